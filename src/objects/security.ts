/** Under whom pods run: what the restricted Pod Security Standard asks for. Pure. */

/** Any number but root's works, the images name none. */
const USER = 65532;

export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  // A volume that already belongs to the group is not walked file by file at every start.
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** What the pods have in common that do one piece of work for the operator and are then gone. */
export const WORK_POD = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: 5,
  securityContext: POD_SECURITY,
} as const;
