/** Who the operator is to Google: a token as given, a service account's key, or what Google's own library finds. */
import { createSign } from 'node:crypto';
import type { AnyAuthClient } from 'google-auth-library';
import { type HttpClient, HttpFailure } from './http.ts';
import { StoreError } from './port.ts';
import type { GoogleCredentials, ServiceAccount } from './secrets.ts';
import { keepToken, type Token } from './tokens.ts';

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';

/** Seconds that an assertion is good for, Google's longest. */
const ASSERTION_SECONDS = 3600;

/** Milliseconds that asking for a token may take; its signal is not the callers', who may be many. */
const ASK_MS = 30_000;

/** Milliseconds that a token of Google's library is taken to live: the library itself renews earlier. */
const LIBRARY_TOKEN_MS = 6 * 60_000;

/**
 * Gives a bearer token that is valid now.
 * @param credentials undefined: the identity of the pod (workload identity, or the machine's account)
 * @param http sends without any authorization
 */
export function googleToken(
  credentials: GoogleCredentials | undefined,
  http: HttpClient,
): (signal: AbortSignal, now: Date) => Promise<string> {
  if (credentials?.type === 'access-token') return async () => credentials.token;
  const ask =
    credentials?.type === 'service_account'
      ? (now: Date) => exchange(credentials, http, now)
      : askLibrary(credentials?.file);
  const kept = keepToken(ask);
  return async (signal, now) => (await kept(signal, now)).value;
}

/** The signed statement that a service account trades for a token (RFC 7523). */
export function signAssertion(account: ServiceAccount, now: Date): string {
  const issued = Math.floor(now.getTime() / 1000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = { alg: 'RS256', typ: 'JWT', ...(account.privateKeyId && { kid: account.privateKeyId }) };
  const claims = {
    iss: account.clientEmail,
    scope: SCOPE,
    aud: account.tokenUri,
    iat: issued,
    exp: issued + ASSERTION_SECONDS,
  };
  const text = `${encode(header)}.${encode(claims)}`;
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(account.privateKey, 'base64url')}`;
  } catch {
    throw new StoreError(
      'invalid',
      "the private_key in the Secret's credentials.json is not a private key in PEM",
    );
  }
}

/** Trades an assertion for a token; one of a wrong time is created again with the time of the answer. */
async function exchange(account: ServiceAccount, http: HttpClient, now: Date): Promise<Token> {
  const text = await trade(account, http, now).catch(error => {
    const theirs = new Date(error instanceof HttpFailure ? (error.headers['date'] ?? '') : '');
    if (!(error instanceof HttpFailure && error.skewed) || Number.isNaN(theirs.getTime())) throw error;
    return trade(account, http, theirs);
  });
  const answer: { readonly access_token?: string; readonly expires_in?: number } = JSON.parse(text);
  return { value: answer.access_token ?? '', expiresAt: Date.now() + (answer.expires_in ?? 0) * 1000 };
}

async function trade(account: ServiceAccount, http: HttpClient, now: Date): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: signAssertion(account, now),
  });
  try {
    const { text } = await http.sendForText({
      method: 'POST',
      url: new URL(account.tokenUri),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal: AbortSignal.timeout(ASK_MS),
    });
    return text;
  } catch (error) {
    // Refused with 400 when the account or its key is not valid any more.
    if (!(error instanceof HttpFailure) || error.status !== 400) throw error;
    throw new HttpFailure({ status: 401, headers: error.headers }, error.body, error.skewed);
  }
}

function askLibrary(file: Readonly<Record<string, unknown>> | undefined): () => Promise<Token> {
  let client: Promise<AnyAuthClient> | undefined;
  return async () => {
    try {
      client ??= load(file);
      const { token } = await (await client).getAccessToken();
      return { value: token ?? '', expiresAt: Date.now() + LIBRARY_TOKEN_MS };
    } catch (error) {
      client = undefined;
      throw refused(error);
    }
  };
}

async function load(file: Readonly<Record<string, unknown>> | undefined): Promise<AnyAuthClient> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({
    scopes: [SCOPE],
    // Nothing here needs it; without one the library looks for it in many places, the gcloud command among them.
    projectId: 'none',
    ...(file && { credentials: { ...file } }),
  });
  return auth.getClient();
}

/** The library's errors quote files and answers. */
function refused(error: unknown): StoreError {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : undefined;
  const retry = status !== undefined && status >= 500;
  return new StoreError(
    retry ? 'unavailable' : 'denied',
    `Google's identity service returned no token${status === undefined ? '' : ` (HTTP ${status})`}; name a Secret, or configure an identity for the pod`,
  );
}
