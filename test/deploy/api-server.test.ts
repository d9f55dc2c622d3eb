import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installTools } from '../../scripts/install-tools.js';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { hasProgram } from './install-deploy-tools.js';
import { EVERYTHING, hasHelm, renderChart, type Manifest } from './render-chart.js';
import { hasApiServer, startApiServer, type ApiServer } from './start-api-server.js';

/** Kinds that the old server of the tests lacks, and the files with their published schemas. */
const PUBLISHED: Readonly<Record<string, string>> = {
  'policy/v1 PodDisruptionBudget': 'kubernetes-models/policy/v1/index.mjs',
  'monitoring.coreos.com/v1 ServiceMonitor': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/index.js',
  'monitoring.coreos.com/v1 PrometheusRule': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/index.js',
};

const getKind = ({ apiVersion, kind }: Manifest): string => `${apiVersion} ${kind}`;

async function renderAll(): Promise<Manifest[]> {
  const charts = await Promise.all([renderChart(), renderChart(EVERYTHING)]);
  return charts.flat().flatMap(({ objects }) => objects);
}

/** Checks an object against the schema that its project publishes; throws what is wrong with it. */
async function validate(manifest: Manifest): Promise<void> {
  const file = join(await installTools('tools/schemas'), PUBLISHED[getKind(manifest)] ?? '');
  const models = (await import(file)) as Readonly<Record<string, new (value: object) => { validate(): void }>>;
  const Model = models[manifest.kind];
  if (Model === undefined) throw new Error(`no schema for ${getKind(manifest)}`);
  new Model(manifest).validate();
}

const canRender = await hasHelm();
const hasCluster = canRender && hasApiServer && (await hasProgram('kubectl')) && (await hasProgram('etcd'));

describe.runIf(canRender)('kinds that the API server of the tests lacks', () => {
  it('match the schema that their project publishes', async () => {
    const objects = (await renderAll()).filter((manifest) => getKind(manifest) in PUBLISHED);
    expect(new Set(objects.map(getKind))).toEqual(new Set(Object.keys(PUBLISHED)));
    for (const manifest of objects) await validate(manifest);
  });

  it('are refused if they do not', async () => {
    for (const manifest of await renderAll()) {
      if (!(getKind(manifest) in PUBLISHED)) continue;
      const planted = { ...manifest, spec: { maxUnavailable: [], selector: 3, endpoints: {}, groups: {} } };
      await expect(validate(planted)).rejects.toThrow(/must|should/);
    }
  });
});

describe.runIf(hasCluster)('a real API server', () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer();
  });
  afterAll(async () => server.stop());

  it('accepts everything that the chart renders, except kinds it does not have', async () => {
    await server.kubectl(['create', 'namespace', 'sluice']);
    const items = (await renderAll()).filter((manifest) => !(getKind(manifest) in PUBLISHED));
    const dryRun = async (objects: readonly object[]) =>
      server.kubectl(
        // As Helm 4 applies: stricter than `kubectl apply`, which merges on the client.
        ['apply', '--server-side', '--dry-run=server', '--namespace=sluice', '--filename=-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      );
    const { exitCode, stdout, stderr } = await dryRun(items);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(items.length);
    const planted = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'x' }, spec: { replica: 1 } };
    expect((await dryRun([planted])).exitCode).not.toBe(0);
  });

  it('runs create-secrets.sh and kubectl apply -k, and gives the servers only the rights to place runs', async () => {
    const { kubectl, kubeconfig } = server;
    const script = ['sh', join(PROJECT, 'deploy/kubernetes/create-secrets.sh')];
    const created = await run('env', [`KUBECONFIG=${kubeconfig}`, ...script], PROJECT);
    expect(created).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^your token: [0-9a-f]{48}$/m) });
    const again = await run('env', [`KUBECONFIG=${kubeconfig}`, ...script], PROJECT);
    expect(again).toMatchObject({ exitCode: 0, stdout: '' });

    const { stdout: rendered, stderr } = await kubectl(['kustomize', join(PROJECT, 'deploy/kubernetes')]);
    expect(stderr).toBe('');
    const documents = rendered.split(/^---$/m);
    const isServed = (text: string) => !/^apiVersion: policy\/v1$/m.test(text);
    expect(documents.filter((text) => !isServed(text))).toHaveLength(2);
    const applied = await kubectl(['apply', '--filename=-'], documents.filter(isServed).join('---'));
    expect(applied).toMatchObject({ exitCode: 0 });

    // Every secret, and every key of one, that a pod names was created.
    const { stdout: pods } = await kubectl(['--namespace=sluice', 'get', 'statefulsets,jobs', '--output=json']);
    const named = [...pods.matchAll(/"secretKeyRef": \{\s*"key": "(.*?)",\s*"name": "(.*?)"/g)];
    expect(named.length).toBeGreaterThan(2);
    for (const [, key = '', name = ''] of named) {
      const { stdout } = await kubectl(['--namespace=sluice', 'get', 'secret', name, '--output=json']);
      expect(Object.keys((JSON.parse(stdout) as { readonly data: object }).data)).toContain(key);
    }

    const can = async (verb: string, resource: string, namespace: string) => {
      const account = '--as=system:serviceaccount:sluice:sluice';
      return (await kubectl(['auth', 'can-i', verb, resource, account, `--namespace=${namespace}`])).stdout.trim();
    };
    for (const verb of ['create', 'get', 'list', 'delete']) expect(await can(verb, 'jobs', 'sluice')).toBe('yes');
    for (const verb of ['get', 'list', 'watch']) expect(await can(verb, 'pods', 'sluice')).toBe('yes');
    expect(await can('create', 'secrets', 'sluice')).toBe('yes');
    expect(await can('get', 'nodes', 'sluice')).toBe('yes');
    for (const [verb, resource, namespace] of [
      ['get', 'secrets', 'sluice'],
      ['list', 'secrets', 'sluice'],
      ['create', 'pods', 'sluice'],
      ['create', 'jobs', 'default'],
      ['delete', 'nodes', 'sluice'],
    ] as const)
      expect({ verb, resource, can: await can(verb, resource, namespace) }).toMatchObject({ can: 'no' });
  });
});
