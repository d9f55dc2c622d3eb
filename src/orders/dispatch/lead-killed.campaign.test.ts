import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { report } from '../../../test/report.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createLead } from '../lead/create-lead.js';
import type { OrderRecord, OutboxMessage } from '../../store/records/order-record.js';
import { startForge } from '../sinks/fixtures/forge.js';
import { formatMarker } from '../sinks/sink.js';
import { openStore } from '../../store/open-store.js';
import type { Store } from '../../store/store.js';
import { leadOptions, workerOptions } from './fixtures/campaign-options.js';
import { startWorker } from './start-worker.js';

/** `npm run torture` kills more often. */
const KILLS = Number(process.env['LEAD_KILLS'] ?? 4);

const LEAD = fileURLToPath(new URL('./fixtures/lead-program.js', import.meta.url));
const AGENT = fileURLToPath(new URL('./fixtures/scripted-agent.sh', import.meta.url));

/**
 * Creates a folder with the worker, some repositories, and the lead bundled into one file, because it starts often and
 * must start fast.
 */
async function makeSite(): Promise<{ readonly data: string; readonly program: string }> {
  const data = await makeFolder({ effects: '' });
  await copyFile(AGENT, join(data, 'scripted-agent.sh'));
  for (let number = 0; number < 3; number++) await mkdir(join(data, `repository-${number}`));
  const git = ['-C', join(data, 'repository-0'), '-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  execFileSync('git', [...git, 'init', '--quiet']);
  execFileSync('git', [...git, 'commit', '--quiet', '--allow-empty', '-m', 'Begin']);
  // As deep as in the package, which looks for its own manifest three folders up.
  const program = join(data, 'program/orders/dispatch/lead.mjs');
  await copyFile(fileURLToPath(new URL('../../../package.json', import.meta.url)), join(data, 'package.json'));
  const bundle = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' } as const;
  await build({ entryPoints: [LEAD], outfile: program, ...bundle });
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(data, 'node_modules'));
  return { data, program };
}

/** Runs the lead and kills it at a random time; returns everything it had acknowledged by then. */
async function runAndKill(program: string, args: readonly string[]): Promise<readonly (readonly string[])[]> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const closed = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), closed]);
  if (child.exitCode !== null) throw new Error(`the lead ended by itself with ${child.exitCode}`);
  await pause(Math.random() * 2000);
  child.kill('SIGKILL');
  await closed;
  const lines = printed.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as readonly string[]);
}

async function readAllPages<T>(
  list: (cursor: {
    readonly cursor?: string;
  }) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>,
) {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page = await list(cursor === null ? {} : { cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

/** Lets one last worker finish everything. */
async function finishAll(store: Store, data: string, forge: string): Promise<void> {
  const lead = createLead({ store, ...leadOptions(data, forge) });
  const worker = startWorker({ store, lead, ...workerOptions(data) });
  const countUnfinished = async () =>
    (await store.listOrders({ open: true, limit: 1 })).items.length +
    (await store.listRuns({ state: 'running', limit: 1 })).items.length +
    (await store.listOutbox({ state: 'waiting', limit: 1 })).items.length +
    (await store.listOutbox({ state: 'sending', limit: 1 })).items.length;
  // Every kill leaves orders in the queue.
  await expect.poll(countUnfinished, { timeout: 90_000 + KILLS * 5000, interval: 100 }).toBe(0);
  await worker.stop();
}

const STATE_BY_ACTION = {
  advance: 'review',
  blocked: 'blocked',
  'needs-human': 'needs-human',
  archive: undefined,
} as const;

describe('a lead that is killed repeatedly', () => {
  it(
    'loses nothing it acknowledged, comments once on every issue, never changes the wrong issue and leaves no orphaned run',
    { timeout: 120_000 + KILLS * 15_000 },
    async () => {
      const { data, program } = await makeSite();
      const forge = await startForge({ perPage: 10 });
      const acknowledged: (readonly string[])[] = [];
      for (let kill = 1; kill <= KILLS; kill++) {
        forge.failNext({ kind: 'reset-after' }, { kind: 'status-after', status: 502 }, { kind: 'status', status: 500 });
        acknowledged.push(...(await runAndKill(program, [data, forge.url, String(kill)])));
      }
      const store = await openStore(`sqlite:${join(data, 'sluice.db')}`);
      await finishAll(store, data, forge.url);

      const orders = await readAllPages(async (page) => store.listOrders(page));
      const messages = await readAllPages(async (page) => store.listOutbox(page));
      const byName = new Map(orders.map((record) => [`${record.order.issue_ref} ${record.order.run_id}`, record]));
      const submitted = acknowledged.filter(([what]) => what === 'submitted');
      expect(submitted.length).toBeGreaterThan(KILLS);
      expect(submitted.filter(([, issueRef, runId]) => !byName.has(`${issueRef} ${runId}`))).toEqual([]);
      const settled = acknowledged.filter(([what]) => what === 'settled');
      const changed = settled.filter(
        ([, issueRef, runId, action]) => byName.get(`${issueRef} ${runId}`)?.decision?.action !== action,
      );
      expect(changed).toEqual([]);

      await checkStates(store, orders);
      await checkComments(data, forge.bodies(), messages);
      const proven = await checkProofs(store, data, orders);
      const { races, won } = checkRaces(orders);
      expect(await findSurvivors(data)).toEqual([]);
      const starts = (await readFile(join(data, 'effects'), 'utf8'))
        .split('\n')
        .filter((line) => line.endsWith(' start'));
      expect(new Set(starts).size).toBe(starts.length);
      report(
        `${KILLS} kills: ${submitted.length} orders and ${settled.length} decisions acknowledged, none lost; ${starts.length} agents started, none twice; ${proven} results proven, no check lost or run twice; ${races} races, ${won} won, none twice; ${messages.length} comments, none twice; no issue in a wrong state, no orphaned run, no orphaned process`,
      );
      await store.close();
    },
  );
});

/**
 * Asserts that every issue has the state that follows from the decision on its active run, and that every run was
 * settled once.
 */
async function checkStates(store: Store, orders: readonly OrderRecord[]): Promise<void> {
  expect(orders.filter(({ state }) => state !== 'settled' && state !== 'canceled')).toEqual([]);
  const executions = await readAllPages(async (page) => store.listExecutions(page));
  const rows = executions.map(({ issue_ref, run_id }) => `${issue_ref} ${run_id}`);
  expect(new Set(rows).size).toBe(rows.length);
  const wrong: string[] = [];
  for (const record of orders) {
    const { issue_ref, run_id } = record.order;
    const issue = await store.findIssue(issue_ref);
    const { items } = await store.listInbox({ open: true, issueRef: issue_ref });
    const action = record.decision?.action ?? 'archive';
    const isUndecided = record.group !== undefined && issue?.active_group === record.group;
    const isActive = issue?.active_run_id === run_id || isUndecided;
    // A race without a winner asks a human about each of its results.
    const expectedItems = isUndecided ? countRace(record, orders) : 1;
    const isRight = isActive
      ? issue?.state === STATE_BY_ACTION[action] && items.length === (action === 'needs-human' ? expectedItems : 0)
      : action === 'archive' || wasSettledBeforeReplacement(record, orders);
    if (!isRight) wrong.push(`${issue_ref} ${run_id} ${action}, but ${issue?.state} with ${items.length} items`);
  }
  expect(wrong).toEqual([]);
}

function countRace({ order, group }: OrderRecord, orders: readonly OrderRecord[]): number {
  return orders.filter((other) => other.group === group && other.order.issue_ref === order.issue_ref).length;
}

/**
 * Asserts that at most one result of a race advanced, and that the others were superseded; returns the number of races
 * won.
 */
function checkRaces(orders: readonly OrderRecord[]): { readonly races: number; readonly won: number } {
  const racingOrders = orders.flatMap((record) => (record.group === undefined ? [] : [record]));
  const races = new Map<string, OrderRecord[]>();
  for (const record of racingOrders) {
    const name = `${record.order.issue_ref} ${record.group}`;
    races.set(name, [...(races.get(name) ?? []), record]);
  }
  let won = 0;
  for (const runs of races.values()) {
    const codes = runs.map(({ decision }) => decision?.result_code);
    const winners = runs.filter(({ decision }) => decision?.action === 'advance').length;
    expect(winners).toBeLessThanOrEqual(1);
    const superseded = codes.filter((code) => code === 'superseded').length;
    expect(winners === 0 || superseded === runs.length - 1).toBe(true);
    won += winners;
  }
  return { races: races.size, won };
}

/**
 * Asserts that every result that advanced under the policy `proven` was checked once and that every check has ended;
 * returns their number.
 */
async function checkProofs(store: Store, data: string, orders: readonly OrderRecord[]): Promise<number> {
  const checked = (await readFile(join(data, 'checked'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  expect(new Set(checked).size).toBe(checked.length);
  const advanced = orders.filter(({ order, decision }) => order.worker === 'proven' && decision?.action === 'advance');
  const runs = advanced.map(({ decision }) => decision?.evidence?.find(({ run }) => run !== undefined)?.run ?? 'none');
  expect(new Set(runs).size).toBe(runs.length);
  for (const [index, { result }] of advanced.entries()) {
    expect(checked).toContain(result?.changes.commit);
    expect((await store.findRun(runs[index] ?? ''))?.result).toMatchObject({ status: 'success' });
  }
  expect(await readdir(join(data, 'checks')).catch(() => [])).toEqual([]);
  return advanced.length;
}

function wasSettledBeforeReplacement({ order, settled_at }: OrderRecord, orders: readonly OrderRecord[]): boolean {
  const next = orders.find((other) => other.order.issue_ref === order.issue_ref && other.order.run_id > order.run_id);
  return settled_at !== null && next !== undefined && settled_at <= next.created_at;
}

/** Asserts that every message arrived exactly once. */
async function checkComments(
  data: string,
  bodies: readonly string[],
  messages: readonly OutboxMessage[],
): Promise<void> {
  const files = await Promise.all(
    (await readdir(join(data, 'comments')))
      .filter((name) => name.endsWith('.md'))
      .map(async (name) => readFile(join(data, 'comments', name), 'utf8')),
  );
  const places = { github: bodies.join('\n'), markdown: files.join('\n') };
  for (const [sink, text] of Object.entries(places)) {
    const sinkMessages = messages.filter((message) => message.sink === sink);
    expect(sinkMessages.map(({ state }) => state).filter((state) => state !== 'delivered')).toEqual([]);
    const markers = (text.match(/<!-- sluice:\S+ \S+ -->/g) ?? []).toSorted();
    expect(markers).toEqual(sinkMessages.map(formatMarker).toSorted());
  }
}

/** Lists agents that are still running although no worker is waiting for them. */
async function findSurvivors(data: string): Promise<string[]> {
  const survivors: string[] = [];
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.includes(`SLUICE_RUN_DIR=${data}`)) survivors.push(pid);
  }
  return survivors;
}
