/** The keys in use, which follow their files: a key that is added, made active or removed needs no restart. */
import type { KeyObject } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../../telemetry/logger.ts';
import { type CodecKeys, readCodecKeys } from './keys.ts';

export interface CodecKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** What encrypts and decrypts asks for. */
export interface KeySource {
  /** The key with which is encrypted; undefined: nothing is. */
  active(): CodecKey | undefined;
  /** The key of this id; undefined when there is none, also after the files were read again. */
  find(id: string): KeyObject | undefined;
}

export interface KeyRingOptions {
  readonly folder: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Whether the files hold something that cannot be used, so that former keys stay in use. */
  readonly onOutdated: (isOutdated: boolean) => void;
  /** Milliseconds between two looks at the files. */
  readonly everyMs?: number;
  /** Milliseconds, of any beginning. */
  readonly now?: () => number;
}

/** However many payloads come with an id that nobody knows, the files are read once in so many milliseconds. */
const READ_AGAIN_MS = 1_000;

export class KeyRing implements KeySource {
  readonly #options: KeyRingOptions;
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  readonly #now: () => number;
  #keys: CodecKeys;
  #lookedAt: number;
  /** What was said last of files that cannot be used. */
  #said = '';

  /**
   * Looks at the files every ten seconds until it is closed.
   * @throws an error that names the file, when one cannot be used: nothing can be done without keys
   */
  constructor(options: KeyRingOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#keys = readCodecKeys(options.folder);
    this.#lookedAt = this.#now();
    this.#looking = this.#look();
  }

  active(): CodecKey | undefined {
    const { active: id, byId } = this.#keys;
    const key = id === undefined ? undefined : byId.get(id);
    return id === undefined || key === undefined ? undefined : { id, key };
  }

  find(id: string): KeyObject | undefined {
    const known = this.#keys.byId.get(id);
    if (known !== undefined || this.#now() - this.#lookedAt < READ_AGAIN_MS) return known;
    // Another replica may have seen the new Secret first.
    this.#follow();
    return this.#keys.byId.get(id);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { everyMs = 10_000 } = this.#options;
    const { signal } = this.#stop;
    while (await pause(everyMs, true, { signal, ref: false }).catch(() => false)) this.#follow();
  }

  /** Brings what the files hold into use. What cannot be used is read again the next time. */
  #follow(): void {
    const { folder, logger, onOutdated } = this.#options;
    this.#lookedAt = this.#now();
    try {
      const keys = readCodecKeys(folder);
      if (keys.digest !== this.#keys.digest) {
        this.#keys = keys;
        const ids = [...keys.byId.keys()];
        logger.info('the keys for payloads have changed and are in use', {
          active: keys.active ?? 'none',
          ids,
        });
      }
      this.#said = '';
      onOutdated(false);
    } catch (error) {
      onOutdated(true);
      const what = error instanceof Error ? error.message : '';
      if (what !== this.#said)
        logger.warn('the keys for payloads have changed and cannot be used; the former ones stay in use', {
          error,
        });
      this.#said = what;
    }
  }
}
