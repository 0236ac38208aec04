/** Mutual TLS before the Temporal of a stack, which has none: every client shows a certificate of its authority. */
import { TestAuthority } from '../fakes/certificates.ts';
import { TlsFront } from '../fakes/tls-front.ts';
import type { World } from './e2e.ts';
import { forward } from './forward.ts';
import { bridgeAddress } from './stack-store.ts';

export interface SealedTemporal {
  /** `host:port`, as pods reach it. */
  readonly address: string;
  /** The files of a client: those of a Secret, by their names. */
  issue(): Promise<Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>>;
  stop(): Promise<void>;
}

export async function sealTemporal(world: World): Promise<SealedTemporal> {
  const authority = await TestAuthority.create('temporal');
  const address = bridgeAddress(world);
  const pair = await authority.issue({ addresses: [address] });
  const front = await TlsFront.start(world.stack.temporalAddress, { ca: authority.pair.cert, pair });
  const reached = await forward(address, `https://${front.address}`);
  return {
    address: new URL(reached.url).host,
    issue: async () => {
      const { cert, key } = await authority.issue({});
      return { 'ca.crt': authority.pair.cert, 'tls.crt': cert, 'tls.key': key };
    },
    stop: async () => {
      reached.stop();
      await front.close();
    },
  };
}
