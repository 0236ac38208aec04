/**
 * How a replica of the operator is named to Temporal: `pod@installation`. The part after the last @ is the same for all replicas of an
 * installation, and for no other one.
 */
const INSTALLATION = /@([0-9a-f]{12})$/;

/** @param installation twelve hexadecimal digits; undefined: not known */
export function workerIdentity(pod: string, installation: string | undefined): string {
  return installation === undefined ? pod : `${pod}@${installation}`;
}

/** The installation of a replica; undefined when its name does not say, as that of another program or of an earlier release. */
export function installationOf(identity: string): string | undefined {
  return INSTALLATION.exec(identity)?.[1];
}
