/** The built-in kinds that activities read and write. */
import type { KindRef } from '../../kube/port.ts';

export const POD: KindRef = { apiVersion: 'v1', kind: 'Pod' };
export const CLAIM: KindRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
export const SERVICE: KindRef = { apiVersion: 'v1', kind: 'Service' };
export const SECRET: KindRef = { apiVersion: 'v1', kind: 'Secret' };
export const BUDGET: KindRef = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
