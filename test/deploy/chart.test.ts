import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../../scripts/run-tool.js';
import { CHART, EVERYTHING, hasHelm, helm, readChartFile, renderChart, type RenderedChart } from './render-chart.js';

const readJson = async (path: string): Promise<object> =>
  JSON.parse(await readFile(join(PROJECT, path), 'utf8')) as object;

const listObjects = (rendered: RenderedChart) => rendered.flatMap(({ objects }) => objects);

/** Every container with its pod, of all workloads. */
function listPods(chart: RenderedChart) {
  return listObjects(chart).flatMap(({ kind, metadata, spec }) => {
    const { template } = (spec ?? {}) as { readonly template?: { readonly spec: PodSpec } };
    return template === undefined ? [] : [{ name: `${kind} ${metadata.name}`, pod: template.spec }];
  });
}

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext: object;
  readonly containers: readonly {
    readonly securityContext: object;
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string }[];
  }[];
}

describe.runIf(await hasHelm())('the chart', () => {
  it('passes the checks of Helm', async () => {
    const { exitCode, stdout } = await helm(['lint', '--strict', CHART]);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  });

  it('renders the plain manifests with its defaults (-u writes them)', async () => {
    const manifests = await renderChart();
    const heading = '# Rendered from deploy/chart with its default values: change the chart, not this file.\n';
    const text = manifests.map(({ template, text: part }) => `---\n# ${template}\n${part.trim()}\n`).join('');
    await expect(heading + text.replaceAll(/[ ]+$/gm, '').replaceAll(/\n{2,}/g, '\n')).toMatchFileSnapshot(
      join(PROJECT, 'deploy/kubernetes/sluice.yaml'),
    );
  });

  it('has the version of the package, and images of that version', async () => {
    const { version } = (await readJson('package.json')) as { readonly version: string };
    const [chart, values] = [await readChartFile('Chart.yaml'), await readChartFile('values.yaml')];
    expect(chart).toMatchObject({ apiVersion: 'v2', name: 'sluice', version, appVersion: version });
    expect(values['images']).toMatchObject({
      server: `registry.example.org/sluice:${version}`,
      worker: `registry.example.org/sluice-worker:${version}`,
    });
  });

  it('refuses values that its schema does not have', async () => {
    for (const changes of [{ server: { replica: 2 } }, { config: { database: 'x' } }, { secrets: { tls: '' } }])
      await expect(renderChart(changes)).rejects.toThrow(/schema/);
  });

  it('writes a configuration file that Sluice accepts, in which its own settings win', async () => {
    const isValid = new Ajv2020({ strict: false }).compile(await readJson('schemas/config.json'));
    for (const changes of [{}, EVERYTHING, { placement: { enabled: false } }]) {
      const objects = listObjects(await renderChart(changes));
      const { data } = objects.find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'sluice',
      ) as unknown as {
        readonly data: Readonly<Record<string, string>>;
      };
      const config = JSON.parse(data['sluice.config.json'] ?? '') as object;
      expect({ valid: isValid(config), errors: isValid.errors }).toEqual({ valid: true, errors: null });
      expect(config).toMatchObject({ server: { tls: { cert: '/etc/sluice/tls/tls.crt' } } });
    }
  });

  it('starts every container without rights, and gives the database only to servers', async () => {
    const pods = listPods(await renderChart(EVERYTHING));
    expect(pods.map(({ name }) => name)).toEqual([
      'Job sluice-migrate-0-2-0',
      'StatefulSet sluice',
      'StatefulSet sluice-worker',
    ]);
    for (const { name, pod } of pods) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      for (const { securityContext, env = [] } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const isWorker = name.endsWith('-worker');
        expect(env.some(({ name: variable }) => variable === 'SLUICE_DATABASE')).toBe(!isWorker);
      }
    }
    expect(pods.filter(({ pod }) => pod.automountServiceAccountToken !== false).map(({ name }) => name)).toEqual([
      'StatefulSet sluice',
    ]);
  });

  it('gives servers the rights that the tests of the placement use, and no others', async () => {
    const objects = listObjects(await renderChart());
    const rules = objects.flatMap(({ kind, rules: list }) => (kind.endsWith('Role') ? [list] : []));
    expect(rules).toEqual([
      [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
      [
        { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'delete'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
        { apiGroups: [''], resources: ['events'], verbs: ['list'] },
      ],
    ]);
  });

  it('creates no secrets', async () => {
    const objects = listObjects(await renderChart(EVERYTHING));
    expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
  });

  it('refuses several servers without an archive', async () => {
    await expect(renderChart({ server: { replicas: 2 } })).rejects.toThrow('Several servers need an archive');
  });

  it('leaves out what is turned off', async () => {
    const off = {
      workers: { replicas: 0 },
      placement: { enabled: false },
      networkPolicy: { enabled: false },
      podDisruptionBudget: { enabled: false },
    };
    const kinds = listObjects(await renderChart(off)).map(({ kind }) => kind);
    expect(kinds).toEqual(['Job', 'ServiceAccount', 'ConfigMap', 'Service', 'StatefulSet']);
  });
});
