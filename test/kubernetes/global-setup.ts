import type { TestProject } from 'vitest/node';
import { startControlPlane, stopControlPlane } from './control-plane.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the control plane that all test files share; empty without one. */
    readonly controlPlane: string;
  }
}

/** Starts one control plane for all tests, if `KUBEBUILDER_ASSETS` names its programs; otherwise they are not run. */
export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const folder = await startControlPlane();
  provide('controlPlane', folder ?? '');
  return folder === undefined ? undefined : async () => stopControlPlane(folder);
}
