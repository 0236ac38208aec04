/** What tests of upgrades ask of a drilled cluster. */
import type { EtcdCluster, EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { readCluster } from '../e2e.ts';
import { poll } from '../poll.ts';
import type { Drilled } from './drilled.ts';

/** What the cluster says of one of its conditions. */
interface Said {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Upgrades {
  /** Changes the named fields of the specification and leaves the others. */
  readonly edit: (spec: EtcdClusterSpec) => Promise<void>;
  readonly cluster: () => Promise<EtcdCluster | undefined>;
  /** The versions that the members say that they run, in the order of their names. */
  readonly versions: () => Promise<readonly (string | undefined)[]>;
  readonly condition: (type: string) => Promise<Said | undefined>;
  /** Waits until every member runs the version and nothing of an upgrade is left to do. */
  readonly arrive: (version: string, timeoutMs?: number) => Promise<void>;
  /** Waits until `UpgradeBlocked` says this, prints its message and gives it. */
  readonly blocked: (reason: string, timeoutMs?: number) => Promise<string>;
  /** Waits until so many members run the version. */
  readonly reached: (version: string, members: number) => Promise<void>;
}

/** A hop takes a minute; a member that does not come up is waited for five. */
const PATIENT_MS = 300_000;

export function upgradesOf(drilled: Pick<Drilled, 'at' | 'world' | 'kubectl'>): Upgrades {
  const { at } = drilled;
  const cluster = () => readCluster(drilled.world(), at.namespace, at.name);
  const versions = async () =>
    ((await cluster())?.status?.members?.details ?? [])
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map(({ version }) => version);
  const otherwise = async () => JSON.stringify((await cluster())?.status, null, 1);
  const condition = async (type: string) =>
    (await cluster())?.status?.conditions?.find(one => one.type === type);
  return {
    edit: async spec => {
      const patch = JSON.stringify({ spec });
      await drilled.kubectl('patch', 'etcd', at.name, '--type=merge', '-p', patch);
    },
    cluster,
    versions,
    condition,
    arrive: async (version, timeoutMs = PATIENT_MS) => {
      await poll(
        async () => {
          const { status } = (await cluster()) ?? {};
          const members = await versions();
          return status?.targetVersion === undefined && members.every(each => each === version);
        },
        { timeoutMs, intervalMs: 200, otherwise },
      );
    },
    blocked: async (reason, timeoutMs = 120_000) => {
      const { message = '' } = await poll(
        async () => {
          const found = await condition('UpgradeBlocked');
          return found?.reason === reason && found;
        },
        { timeoutMs, otherwise },
      );
      console.log(`UpgradeBlocked ${reason}: ${message}`);
      return message;
    },
    reached: async (version, members) => {
      await poll(async () => (await versions()).filter(each => each === version).length >= members, {
        timeoutMs: PATIENT_MS,
        intervalMs: 100,
        otherwise,
      });
    },
  };
}
