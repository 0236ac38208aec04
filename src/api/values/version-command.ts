/** The command that sets the version of a cluster, as messages give it. */
export function versionCommand(name: string, version: string): string {
  return `kubectl patch etcd ${name} --type=merge -p '{"spec":{"version":"${version}"}}'`;
}
