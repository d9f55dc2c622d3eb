import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { GO_LIBRARIES } from './install-deploy-tools.js';

/** An object of the cluster. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [key: string]: unknown;
}

/** The chart with all its values, and what it rendered. */
export interface RenderedChart {
  readonly chart: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
  readonly rendered: readonly {
    readonly template: string;
    readonly text: string;
    readonly objects: readonly Manifest[];
  }[];
}

/** The folder of the chart. */
export const CHART = join(PROJECT, 'deploy/chart');

const CACHE = join(PROJECT, 'node_modules/.cache/render-chart');
let program: Promise<string> | undefined;

/**
 * Renders the chart with the template engine of Go, as Helm does, in the namespace `sluice`. Throws with the message of
 * the engine.
 */
export async function renderChart(values: object = {}, folder = CHART): Promise<RenderedChart> {
  program ??= build();
  const { exitCode, stdout, stderr } = await run(
    await program,
    [folder, 'sluice', 'sluice'],
    PROJECT,
    JSON.stringify(values),
  );
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as RenderedChart;
}

async function build(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const file = join(CACHE, 'render-chart');
  const settings = ['GO111MODULE=off', `GOPATH=${GO_LIBRARIES}`, `GOCACHE=${CACHE}`, 'CGO_ENABLED=0'];
  const source = join(PROJECT, 'scripts/deploy/render-chart.go');
  const { exitCode, stderr } = await run('env', [...settings, 'go', 'build', '-o', file, source], PROJECT);
  if (exitCode !== 0) throw new Error(`Cannot build the renderer: ${stderr}`);
  return file;
}

/** Everything that the chart can render. */
export const EVERYTHING = {
  secrets: { environment: 'sluice-environment' },
  images: { pullSecrets: [{ name: 'registry' }] },
  config: { archive: 's3://runs/team?endpoint=https://minio.example.org', server: { limits: { request_s: 60 } } },
  server: {
    replicas: 2,
    storage: { className: 'fast' },
    nodeSelector: { pool: 'services' },
    tolerations: [{ key: 'services', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  },
  networkPolicy: { clients: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
  monitoring: { serviceMonitor: true, rules: true, dashboard: true, labels: { release: 'prometheus' } },
};
