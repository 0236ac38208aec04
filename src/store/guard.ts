/** Connections to stores that end before they begin where the address is not a store's: see addresses.ts. */
import { lookup, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { buildConnector } from 'undici';
import type { AllowedAddresses } from './addresses.ts';
import type { HttpOptions } from './http.ts';

export const ADDRESS_REFUSED = 'ERR_ADDRESS_REFUSED';

/** The address of an endpoint is none that the operator connects to. Names neither. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = ADDRESS_REFUSED;
  constructor() {
    super('the address is not allowed for a store');
  }
}

/** Looks names up as Node does, and gives only addresses where a store may be; what is given is what is dialled. */
function guardedLookup(allowed: AllowedAddresses): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return callback(error, '', 0);
      const good = found.filter(({ address }) => allowed.mayBeStore(address));
      const [first] = good;
      if (first === undefined) return callback(new AddressRefused(), '', 0);
      if (options.all === true) callback(null, good);
      else callback(null, first.address, first.family);
    });
  };
}

type Guarding = Pick<HttpOptions, 'allowed' | 'authorities'>;

/** For agents of undici. Addresses are not looked up, so they are checked here. */
export function storeConnector({
  allowed,
  authorities,
  silenceMs: timeout,
}: Guarding & Pick<HttpOptions, 'silenceMs'>): buildConnector.connector {
  const options = { timeout, ...trusting(authorities), ...(allowed && { lookup: guardedLookup(allowed) }) };
  const connect = buildConnector(options as buildConnector.BuildOptions);
  return (asked, callback) => {
    if (isRefused(allowed, asked.hostname)) callback(new AddressRefused(), null);
    else connect(asked, callback);
  };
}

/** For AWS's SDK. */
export function storeAgents({ allowed, authorities }: Guarding, maxSockets: number) {
  const options = { maxSockets, keepAlive: true, ...(allowed && { lookup: guardedLookup(allowed) }) };
  return {
    httpAgent: guarded(new HttpAgent(options), allowed),
    httpsAgent: guarded(new HttpsAgent({ ...options, ...trusting(authorities) }), allowed),
  };
}

/** Those whom everybody trusts are still needed: a token is asked for at another host than the store's. */
function trusting(authorities: readonly string[] = []): { readonly ca?: string[] } {
  return authorities.length === 0 ? {} : { ca: [...getCACertificates('default'), ...authorities] };
}

function guarded<Agent extends HttpAgent>(agent: Agent, allowed: AllowedAddresses | undefined): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    if (!isRefused(allowed, options.host ?? '')) return connect(options, callback);
    // With an error there is no connection, whatever the types say.
    (callback as ((error: Error) => void) | undefined)?.(new AddressRefused());
    return undefined;
  };
  return agent;
}

/** Nothing is for a caller that trusts the endpoint. */
function isRefused(allowed: AllowedAddresses | undefined, host: string): boolean {
  if (allowed === undefined) return false;
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) !== 0 && !allowed.mayBeStore(bare);
}
