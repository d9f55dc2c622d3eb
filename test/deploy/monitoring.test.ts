import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { openServer } from '../../src/server/fixtures/open-server.js';
import { makeFolder } from '../temporary-folder.js';
import { hasProgram } from './install-deploy-tools.js';

const ALERTS = join(PROJECT, 'deploy/chart/files/alerts.yaml');
const DASHBOARD = join(PROJECT, 'deploy/chart/files/dashboard.json');

/** Lists the metrics that an expression names which are not in the list. */
function findUnknown(expressions: string, known: ReadonlySet<string>): string[] {
  const named = expressions.match(/\bsluice_\w+/g) ?? [];
  return [...new Set(named)].filter((name) => !known.has(name) && !known.has(name.replace(/_bucket$/, '')));
}

/** Reads the names of the metrics that a server prints. */
async function readMetrics(): Promise<ReadonlySet<string>> {
  const { get } = await openServer();
  const text = await (await get('/metrics')).text();
  return new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
}

/** Reads the labels of each metric from the page that another test compares with the code. */
async function readLabels(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(join(PROJECT, 'docs/metrics.md'), 'utf8');
  const rows = page.matchAll(/^\| `(sluice_\w+)` \| \w+ \| (.*?) \|/gm);
  return new Map([...rows].map(([, name = '', labels = '']) => [name, labels.match(/\w+/g) ?? []]));
}

async function readDashboard() {
  const { panels } = JSON.parse(await readFile(DASHBOARD, 'utf8')) as {
    readonly panels: readonly {
      readonly id: number;
      readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[];
    }[];
  };
  return panels;
}

describe('the alerts and the dashboard', () => {
  it('name only metrics that a server prints', async () => {
    const known = await readMetrics();
    const alerts = await readFile(ALERTS, 'utf8');
    expect(alerts.match(/- alert: /g)?.length).toBeGreaterThan(10);
    expect(findUnknown(alerts, known)).toEqual([]);
    const expressions = (await readDashboard()).flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    expect(findUnknown(expressions, known)).toEqual([]);
    expect(findUnknown('rate(sluice_planted_total[5m])', known)).toEqual(['sluice_planted_total']);
    const shown = new Set(expressions.match(/\bsluice_\w+/g)?.map((name) => name.replace(/_bucket$/, '')));
    expect([...known].filter((name) => !shown.has(name))).toEqual([]);
  });

  it('name only labels that these metrics have', async () => {
    const labels = await readLabels();
    const alerts = (await readFile(ALERTS, 'utf8')).split('- alert: ').slice(1);
    const targets = (await readDashboard()).flatMap(({ targets: list }) => list);
    const parts = [...alerts, ...targets.map(({ expr, legendFormat = '' }) => `${expr} ${legendFormat}`)];
    for (const part of parts) {
      const metrics = [...new Set(part.match(/\bsluice_\w+/g))].map((name) => name.replace(/_bucket$/, ''));
      const allowed = ['le', ...metrics.flatMap((name) => labels.get(name) ?? [])];
      const grouped = [...part.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
      const matched = [...part.matchAll(/[{,]\s*(\w+)(?:=|!=|=~|!~)"/g)].map(([, name = '']) => name);
      const shown = [...part.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, name = '']) => name);
      for (const label of [...grouped, ...matched, ...shown]) expect({ part, label, allowed }).toSatisfy(isAllowed);
    }
  });

  it('have panels with one id each', async () => {
    const ids = (await readDashboard()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

function isAllowed({ label, allowed }: { readonly label: string; readonly allowed: readonly string[] }): boolean {
  return allowed.includes(label);
}

describe.runIf(await hasProgram('promtool'))('the alerts', () => {
  it('are accepted by Prometheus, as are the expressions of the dashboard', async () => {
    expect(await run('promtool', ['check', 'rules', ALERTS], PROJECT)).toMatchObject({ exitCode: 0 });
    const expressions = (await readDashboard()).flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    // JSON is YAML.
    const folder = await makeFolder({
      'dashboard.yaml': JSON.stringify({ groups: [{ name: 'dashboard', rules }] }),
      'planted.yaml': JSON.stringify({ groups: [{ name: 'x', rules: [{ record: 'x', expr: 'sum(sluice_runs' }] }] }),
    });
    const check = async (name: string) => run('promtool', ['check', 'rules', join(folder, name)], PROJECT);
    expect(await check('dashboard.yaml')).toMatchObject({ exitCode: 0 });
    expect((await check('planted.yaml')).exitCode).not.toBe(0);
  });

  it('fire when they should, and only then', async () => {
    const tests = join(PROJECT, 'test/deploy/alerts.test.yaml');
    const { exitCode, stdout, stderr } = await run('promtool', ['test', 'rules', tests], PROJECT);
    expect({ exitCode, printed: stdout + stderr }).toMatchObject({ exitCode: 0 });
  });
});
