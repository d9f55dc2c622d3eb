import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './measure.js';
import { formatMs, type PartResult } from './part-result.js';
import { createLead, openStore } from './product.js';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** Orders per round; the first round warms up. */
const ORDERS = 40;
const ROUNDS = 5;
/** The limit for the worker's own processor time per order. */
const MAX_MS = 25;
/** The unit of processor time in `/proc`. */
const TICK_MS = 10;

const WRAPPERS = {
  idle: { type: 'script', command: ['/bin/sh', '-c', ':'] },
} as const;

/** Measures the processor time of a worker per order whose agent does nothing, in its own worktree, on SQLite. */
export async function runOrders(): Promise<PartResult> {
  const plain = await measureOrders('off');
  const sandboxed = await measureOrders('required');
  return {
    title: 'Orders',
    targets: [
      {
        what: 'a whole order whose agent does nothing: processor time of the worker, without its child processes',
        limit: `≤ ${MAX_MS} ms`,
        measured: formatMs(plain.own),
        met: plain.own <= MAX_MS,
      },
    ],
    tables: [
      {
        title: `Processor time per order whose agent does nothing, in its own worktree; SQLite, ${ORDERS} orders per round, median of ${ROUNDS} rounds`,
        columns: ['', 'worker', 'its child processes: git, the agent'],
        rows: [
          ['without a sandbox', formatMs(plain.own), formatMs(plain.children)],
          ['in a sandbox', formatMs(sandboxed.own), formatMs(sandboxed.children)],
        ],
      },
    ],
    groups: [],
  };
}

interface ProcessorTime {
  readonly own: number;
  readonly children: number;
}

async function measureOrders(sandbox: 'off' | 'required'): Promise<ProcessorTime> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [data, work] = [join(folder, 'data'), join(folder, 'work')];
  for (const each of [data, work]) await mkdir(each);
  await writeFile(join(work, 'README.md'), 'x');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', work, ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '--quiet', '-m', 'Begin');
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ roots: [work], wrappers: WRAPPERS }));
  const url = `sqlite:${join(folder, 'store.db')}`;
  const store = await openStore(url);
  const args = ['worker', '--config', config, '--database', url, '--data', data];
  const worker = spawn(process.execPath, [COMMAND, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, SLUICE_SANDBOX: sandbox },
  });
  try {
    await once(worker.stderr, 'data');
    worker.stderr.resume();
    const lead = createLead({ store, data, wrappers: WRAPPERS });
    const rounds: ProcessorTime[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const before = await readProcessorTime(worker.pid);
      const submitted = Array.from({ length: ORDERS }, async (_, number) =>
        lead.submit({
          issue_ref: `local#${round * ORDERS + number + 1}`,
          role: 'backend',
          repo_dir: work,
          worker: 'idle',
          instructions: 'Work.',
        }),
      );
      for (const { run } of await Promise.all(submitted)) {
        while ((await store.findRun(run))?.state !== 'ended') await sleep(20);
      }
      const after = await readProcessorTime(worker.pid);
      const perOrder = (key: keyof ProcessorTime): number => (after[key] - before[key]) / ORDERS;
      if (round > 0) rounds.push({ own: perOrder('own'), children: perOrder('children') });
    }
    await lead.close();
    return { own: median(rounds.map(({ own }) => own)), children: median(rounds.map(({ children }) => children)) };
  } finally {
    const exited = worker.exitCode === null ? once(worker, 'exit') : undefined;
    worker.kill('SIGTERM');
    await exited;
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the processor time of a process and of its ended children so far, in milliseconds. */
async function readProcessorTime(pid: number | undefined): Promise<ProcessorTime> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the name, which can contain spaces, the numbers start with the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) * TICK_MS, children: (childrenUser + childrenSystem) * TICK_MS };
}
