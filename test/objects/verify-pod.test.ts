/** The pod that verifies a backup: restricted, without credentials, and bounded in space and time. */
import { describe, expect, it } from 'vitest';
import { verifyPod } from '../../src/objects/verify-pod.ts';

const OWNER = { kind: 'EtcdBackup', namespace: 'shop', name: 'nightly', uid: 'a1', role: 'verify' } as const;
const MIB = 1024 * 1024;

function podOf(level: 'Structure' | 'Restore') {
  return verifyPod(OWNER, {
    images: { operator: 'operator:1', etcd: 'etcd:v3.6.16' },
    level,
    revision: '42',
    snapshotSize: 100 * MIB,
    secondsLeft: 59.5,
    place: {},
  });
}

describe('the pod of a verification', () => {
  it('has what the restricted Pod Security Standard asks for, and nothing of the cluster', () => {
    const { metadata, spec } = podOf('Restore');
    expect(metadata).toMatchObject({ name: 'nightly-backup-verify', ownerReferences: [{ uid: 'a1' }] });
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      restartPolicy: 'Never',
    });
    for (const { securityContext } of spec.containers) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(JSON.stringify(spec)).not.toContain('persistentVolumeClaim');
  });

  it('ends by itself, and takes no more space than it needs', () => {
    expect(podOf('Restore').spec.activeDeadlineSeconds).toBe(60);
    expect(podOf('Structure').spec.volumes[0]).toMatchObject({ emptyDir: { sizeLimit: `${116 * MIB}` } });
    expect(podOf('Restore').spec.volumes[0]).toMatchObject({ emptyDir: { sizeLimit: `${456 * MIB}` } });
  });
});
