import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { SluiceError, createUlidGenerator, getErrorCode, omitUndefined, silentLogger } from '../../../base/index.js';
import type { Logger } from '../../../base/index.js';
import type { WorkOrder, WorkRequest } from '../../../store/records/index.js';
import { createLead, type Lead } from '../../lead/create-lead.js';
import { openStore, type Store } from '../../../store/index.js';
import { startWorker } from '../start-worker.js';
import { waitForOrder } from '../wait-for-order.js';
import { makeDemoRepository, hasDemoRepository } from '../../git/demo-repository.js';
import { findCommit } from '../../git/run-git.js';
import { makeFolder } from '../../../base/files/index.js';
import { whileInProgress } from '../hold-claim.js';
import { executeRun } from '../execute-run.js';
import { DEFAULT_LEASE_MS } from '../worker-options.js';
import type { Checks } from '../../proof/checks.js';
import type { Wrappers } from '../../wrappers/wrappers.js';

interface DemoOptions {
  /** The data folder. */
  readonly data: string;
  /** The URL of the store; a SQLite file in the data folder by default. */
  readonly database?: string;
  readonly logger?: Logger;
}

/** The outcome of the demo, as `sluice demo --json` prints it. */
export type DemoReport = Awaited<ReturnType<typeof runDemo>>;

/** Longer than the orders take; a demo must end. */
const TIME_LIMIT_MS = 120_000;

/**
 * Runs the complete loop with real orders: a script that reports in JSON, a script that reports in text, a script that
 * only prints, and a recorded agent whose change is proven. The third ends in the inbox, the others in a delivered
 * comment.
 */
export async function runDemo(options: DemoOptions) {
  const data = resolve(options.data);
  const repoDir = await makeDemoRepository(data);
  const store = await openStore(options.database ?? `sqlite:${join(data, 'sluice.db')}`);
  try {
    const lead = createLead({ store, wrappers: createDemoWrappers(), checks: createDemoChecks(), data });
    const logger = omitUndefined({ logger: options.logger });
    // The recorded agent is started instead of the real one.
    const runs = { data, programs: { codex: getReplay('codex-order') }, ...logger };
    const worker = startWorker({ store, lead, runs, ...logger, kinds: ['orders'] });
    const submitted: WorkOrder[] = [];
    try {
      // Every demo creates new issues: those of the last demo might still be waiting for a human.
      const suffix = createUlidGenerator()().slice(-8).toLowerCase();
      for (const name of DEMO_AGENTS) {
        const { order } = await lead.submit(createDemoRequest(name, `local#demo-${suffix}-${name}`, repoDir));
        submitted.push(order);
      }
      // Without git, no worktree exists and nothing can be proven.
      if ((await findCommit(repoDir, 'HEAD')) !== undefined) {
        const { order } = await lead.submit(createAgentRequest(`local#demo-${suffix}-agent`, repoDir));
        submitted.push(order);
      }
      await waitForAll(store, submitted);
    } finally {
      await worker.stop({ graceMs: 0 });
      await lead.close();
    }
    const listed = submitted.map(async ({ issue_ref }) => store.listInbox({ open: true, issueRef: issue_ref }));
    const inbox = (await Promise.all(listed)).flatMap(({ items }) => items);
    return { orders: await Promise.all(submitted.map(async (order) => summarize(store, order))), inbox };
  } finally {
    await store.close();
  }
}

async function waitForAll(store: Store, orders: readonly WorkOrder[]): Promise<void> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    for (const { issue_ref, run_id } of orders) {
      await waitForOrder(store, { issueRef: issue_ref, runId: run_id }, { signal });
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new SluiceError(
      'DEMO_TIMED_OUT',
      `The demo did not finish within ${TIME_LIMIT_MS / 1000} s. Try again when the system is under less load.`,
      { cause },
    );
  }
}

async function summarize(store: Store, order: WorkOrder) {
  const { issue_ref, run_id, worker } = order;
  const [execution] = (await store.listExecutions({ issueRef: issue_ref, runId: run_id, limit: 1 })).items;
  const { items } = await store.listOutbox({ issueRef: issue_ref, state: 'delivered' });
  return {
    issue_ref,
    run_id,
    worker,
    source: execution?.result_encoding ?? 'none',
    action: execution?.decision ?? 'needs-human',
    reason: execution?.reason ?? 'The order was not settled.',
    evidence: execution?.evidence ?? [],
    // The comment on the issue and the file it was delivered to; null if not delivered.
    comment: items[0]?.body ?? null,
    delivered_to: items[0]?.delivered_to ?? null,
  };
}

export type RunningDemo = NonNullable<Awaited<ReturnType<typeof showDemo>>>;

/**
 * Fills an empty store with sample data: recorded agents replayed at their original pace, and an order for each demo
 * agent, one of which ends in the inbox; any worker on the store executes them. A non-empty store is left unchanged. The
 * lead must have the wrappers of the demo agents.
 */
export async function showDemo(
  options: Omit<DemoOptions, 'database'> & {
    readonly store: Store;
    readonly lead: Lead;
    readonly clock?: () => number;
  },
) {
  const { store, lead, clock = () => store.now(), logger = silentLogger } = options;
  const [listedRuns, issues] = await Promise.all([store.listRuns({ limit: 1 }), store.listIssues({ limit: 1 })]);
  if (listedRuns.items.length + issues.items.length > 0) return undefined;
  const data = resolve(options.data);
  const stopping = new AbortController();
  const newId = createUlidGenerator(clock);

  async function play([engine, schema]: (typeof AGENTS)[number]): Promise<void> {
    const recording = JSON.parse(await readFile(join(RECORDINGS, engine, 'recording.json'), 'utf8')) as {
      readonly prompt: string;
    };
    const id = newId();
    const workerId = `demo/${id}`;
    const workdir = join(data, 'demo-agents', engine);
    await makeFolder(workdir);
    const spec = { engine, prompt: recording.prompt, contract: { schema }, workdir };
    await store.createRun({ id, spec, state: 'running', workerId, leaseMs: DEFAULT_LEASE_MS, now: clock() });
    const record = await store.findRun(id);
    if (record === undefined) return;
    const runs = { data, logger, clock, programs: { [engine]: getReplay(engine) } };
    const context = { store, lead, runs, leaseMs: DEFAULT_LEASE_MS, clock, logger, signal: stopping.signal };
    // It was created as running, so that no worker claims it, but it is not a run that is resumed.
    const claimed = { record: { ...record, started_at: null }, order: null, unresolved: [] };
    await whileInProgress(workerId, async () => executeRun(context, claimed, workerId));
  }

  const repoDir = await makeDemoRepository(data);
  for (const agent of DEMO_AGENTS) await submitOnce(lead, agent, repoDir);
  const played = Promise.all(AGENTS.map(play)).then(
    () => undefined,
    (error: unknown) => logger.warn('demo failed', { error: String(error) }),
  );
  return {
    /** Resolves when all recorded agents have been replayed. */
    played,
    /** Stops the agents that are still being replayed. */
    async stop() {
      stopping.abort();
      await played;
    },
  };
}

/**
 * Submits an order once. If two servers start on one empty store, the second request names another folder and is
 * rejected.
 */
async function submitOnce(lead: Lead, worker: string, repoDir: string): Promise<void> {
  const request = createDemoRequest(worker, `local#demo-${worker}`, repoDir);
  try {
    await lead.submit({ ...request, request_id: `demo-${worker}` });
  } catch (error) {
    if (getErrorCode(error) !== 'REQUEST_ID_REUSED') throw error;
  }
}

/** The demo agents, in the order their orders are submitted. */
const DEMO_AGENTS = ['json-agent', 'text-agent', 'print-only-agent'] as const;

/** Returns the wrappers of the demo agents. */
export function createDemoWrappers(): Wrappers {
  return {
    'json-agent': { type: 'script', command: getCommand('json-agent'), inject: 'args' },
    'text-agent': { type: 'script', command: getCommand('text-agent'), inject: 'env' },
    'print-only-agent': { type: 'script', command: getCommand('print-only-agent'), inject: 'env' },
  };
}

/**
 * Returns the wrappers of the demo agents if a demo has run with this data folder: any command can then retry its orders.
 */
export async function findDemoWrappers(data: string): Promise<Wrappers> {
  return (await hasDemoRepository(data)) ? createDemoWrappers() : {};
}

function createDemoRequest(worker: string, issueRef: string, repoDir: string): WorkRequest {
  return { issue_ref: issueRef, role: 'demo', repo_dir: repoDir, worker, instructions: 'Greet the reader.' };
}

/**
 * The agents are in the package's `examples/` folder; their path relative to this file is the same in source and build.
 */
function getCommand(worker: string): readonly [string, string] {
  return [process.execPath, fileURLToPath(new URL(`../../../../examples/agents/${worker}.mjs`, import.meta.url))];
}

/** In the package's `examples/` folder; the path relative to this file is the same in source and build. */
const RECORDINGS = fileURLToPath(new URL('../../../../examples/recorded-agents', import.meta.url));

/** Returns the command that replays a recorded agent. */
function getReplay(recording: string): readonly [string, string, string] {
  return [process.execPath, join(RECORDINGS, 'replay.mjs'), join(RECORDINGS, recording)];
}

/** Returns the checks for the agent's change. */
function createDemoChecks(): Checks {
  const program = "process.exitCode = fs.readFileSync('artifacts/text.md', 'utf8').includes('Alpha') ? 0 : 1";
  return { text: { command: [process.execPath, '-e', program], timeout_s: 60 } };
}

/** Creates the order of the recorded agent: it writes a file in its worktree, and a check verifies the content. */
function createAgentRequest(issueRef: string, repoDir: string): WorkRequest {
  const instructions = 'Create artifacts/text.md with a shell command.';
  return { ...createDemoRequest('codex-cli', issueRef, repoDir), instructions, checks: ['text'] };
}

/** The recorded agents and the schemas of their answers. */
const AGENTS = [
  ['claude', { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } }],
  ['gemini', { type: 'object', required: ['items'] }],
  ['codex', { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } }],
] as const;
