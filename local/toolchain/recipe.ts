import type { Report } from '../progress.ts';
import type { Artefact } from './cache.ts';

/** How one artefact is made, and which tools it holds. */
export interface Recipe {
  artefact: Artefact;
  /** What users read while it is made, e.g. `build Kubernetes 1.35.4`. */
  title: string;
  /** A guess at the seconds it takes from an empty cache on two cores; orders the work. */
  seconds: number;
  /** Whether it waits for the network more than it computes: such work does not take a core from the builds. */
  download?: boolean;
  /** Whether only tests need it: then it is there when it was asked for by name. */
  onlyForTests?: boolean;
  /** Whether even `make test` does without it: only what is named gets it. */
  onlyByName?: boolean;
  /** Tool name to its path in the artefact's folder. */
  tools: Readonly<Record<string, string>>;
  /** Fills the (empty) folder. `log` is the file that takes the output of the commands. */
  build: (folder: string, log: string, report: Report) => Promise<void>;
}
