export { openKubernetesPlacement } from './kubernetes/kubernetes-placement.js';
export type { PlacedRun, Placement, PlacementHandle, PlacementReport } from './port.js';
