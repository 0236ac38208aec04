/** The pod's own identity in Azure: workload identity (a federated token), or the machine's managed identity. */
import { readFile } from 'node:fs/promises';
import { type HttpClient, HttpFailure } from './http.ts';
import { keepToken, type Token } from './tokens.ts';

const RESOURCE = 'https://storage.azure.com/';

const ASK_MS = 30_000;

/** The instance metadata service of Azure's machines. */
const METADATA = 'http://169.254.169.254/metadata/identity/oauth2/token';

/** The variables that Azure's workload identity webhook gives to pods; `AZURE_CLIENT_ID` also picks a managed identity. */
export interface AzureEnvironment {
  readonly [name: string]: string | undefined;
}

/**
 * Gives a bearer token that is valid now.
 * @param http sends without any authorization
 */
export function azureToken(
  environment: AzureEnvironment,
  http: HttpClient,
): (signal: AbortSignal) => Promise<string> {
  const kept = keepToken(() => ask(environment, http));
  return async signal => (await kept(signal)).value;
}

async function ask(environment: AzureEnvironment, http: HttpClient): Promise<Token> {
  const { AZURE_FEDERATED_TOKEN_FILE: file, AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client } = environment;
  const answer =
    file !== undefined && tenant !== undefined && client !== undefined
      ? await federated({ file, tenant, client, authority: environment['AZURE_AUTHORITY_HOST'] }, http)
      : await managed(client, http);
  const { access_token: value, expires_in: seconds } = JSON.parse(answer);
  return { value, expiresAt: Date.now() + Number(seconds) * 1000 };
}

async function federated(
  identity: {
    readonly file: string;
    readonly tenant: string;
    readonly client: string;
    readonly authority: string | undefined;
  },
  http: HttpClient,
): Promise<string> {
  const authority = (identity.authority ?? 'https://login.microsoftonline.com').replace(/\/+$/, '');
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: identity.client,
    scope: `${RESOURCE}.default`,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: (await readFile(identity.file, 'utf8')).trim(),
  });
  const { text } = await http
    .sendForText({
      method: 'POST',
      url: new URL(`${authority}/${identity.tenant}/oauth2/v2.0/token`),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal: AbortSignal.timeout(ASK_MS),
    })
    .catch(error => {
      throw asDenied(error);
    });
  return text;
}

async function managed(client: string | undefined, http: HttpClient): Promise<string> {
  const url = new URL(METADATA);
  url.searchParams.set('api-version', '2018-02-01');
  url.searchParams.set('resource', RESOURCE);
  if (client !== undefined) url.searchParams.set('client_id', client);
  const headers = { metadata: 'true' };
  const { text } = await http
    .sendForText({ method: 'GET', url, headers, signal: AbortSignal.timeout(ASK_MS) })
    .catch(error => {
      throw asDenied(error);
    });
  return text;
}

/** A refusal of the identity service is one of credentials, whatever its number. */
function asDenied(error: unknown): unknown {
  if (!(error instanceof HttpFailure) || error.status >= 500 || error.status === 429) return error;
  return new HttpFailure({ status: 401, headers: error.headers }, error.body, error.skewed);
}
