/** What the watcher needs of its surroundings, in its own small interfaces. */
import type { Reflector, ReflectorOptions } from '../../kube/reflector.ts';
import type { Kind } from '../../api/names.ts';
import type { Processed } from '../queue/work-queue.ts';

/** Time and chance, so that a test can own both. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start: only differences mean something. */
  now(): number;
  /** The time of day, for what users read. */
  date(): Date;
  /** A number from 0 up to and without 1. */
  random(): number;
  /** Calls `run` once after so many milliseconds; returns what cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Constant messages with fields. */
export interface WatcherLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface WatcherMetrics {
  /** An event of a watched object; `enqueued` when it became (part of) a signal. */
  eventSeen(objectKind: string, enqueued: boolean): void;
  /** How many resources of a kind no pass has succeeded for, for a minute or longer. */
  withoutPass(kind: Kind, count: number): void;
  signalSent(kind: Kind, outcome: Exclude<Processed['outcome'], 'skipped'>, seconds: number): void;
  /** How many other installations serve the same task queue of Temporal. */
  otherInstallations(count: number): void;
}

/** Makes a reflector of one kind, which follows it through every failure until it is stopped. */
export type ReflectorFactory = (
  options: Required<Pick<ReflectorOptions, 'kind' | 'namespace' | 'onChange'>> &
    Pick<ReflectorOptions, 'labelSelector' | 'metadataOnly' | 'slim'>,
) => WatchedReflector;

export type WatchedReflector = Pick<Reflector, 'start' | 'stop' | 'hasSynced' | 'isForbidden'>;

export const silentMetrics: WatcherMetrics = {
  eventSeen: () => {},
  withoutPass: () => {},
  signalSent: () => {},
  otherInstallations: () => {},
};

/** The machine's own time and chance. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  random: () => Math.random(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};
