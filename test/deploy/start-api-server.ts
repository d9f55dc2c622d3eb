import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../scripts/run-tool.js';
import { startControlPlane, stopControlPlane } from '../kubernetes/control-plane.js';

/** A real API server of Kubernetes, without nodes and controllers. */
export interface ApiServer {
  /** Runs kubectl as an administrator. */
  readonly kubectl: (args: readonly string[], input?: string) => ReturnType<typeof run>;
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const ASSETS = process.env['KUBEBUILDER_ASSETS'] ?? '';

/** Whether an API server can be started. */
export const hasApiServer = existsSync(join(ASSETS, 'kube-apiserver'));

/** Starts it, and waits until it is ready. */
export async function startApiServer(): Promise<ApiServer> {
  const folder = await startControlPlane({ hasControllers: false });
  if (folder === undefined) throw new Error('The programs of the API server are missing.');
  const own = join(ASSETS, 'kubectl');
  const kubectl = existsSync(own) ? own : 'kubectl';
  const kubeconfig = join(folder, 'kubeconfig');
  return {
    kubeconfig,
    kubectl: async (args, input) => run(kubectl, [`--kubeconfig=${kubeconfig}`, ...args], folder, input),
    stop: async () => stopControlPlane(folder),
  };
}
