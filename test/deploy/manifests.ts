/** The manifests of deploy/ as releases render them, and how tests look into them. */
export { at, listAt, loadKustomization, type Manifest } from '../../scripts/kustomization.ts';
