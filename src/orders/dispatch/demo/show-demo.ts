import { join, resolve } from 'node:path';
import { createUlidGenerator, getErrorCode, silentLogger } from '../../../base/index.js';
import type { Logger } from '../../../base/index.js';
import type { Lead } from '../../lead/create-lead.js';
import { makeFolder } from '../../../base/files/index.js';
import type { Store } from '../../../store/index.js';
import { whileInProgress } from '../hold-claim.js';
import { executeRun } from '../execute-run.js';
import { DEFAULT_LEASE_MS } from '../worker-options.js';
import { makeDemoRepository } from '../../git/demo-repository.js';
import { DEMO_AGENTS, createDemoRequest, readRecordedAgents } from './demo-agents.js';
import type { RecordedAgent } from './demo-agents.js';

/** Options for the `sluice serve` demo. Any worker on the store executes its orders. */
export interface ShowDemoOptions {
  readonly store: Store;
  /** Must have the wrappers of the demo agents. */
  readonly lead: Lead;
  readonly data: string;
  readonly logger?: Logger;
  readonly clock?: () => number;
}

/** A running demo. */
export interface RunningDemo {
  /** Resolves when all recorded agents have been replayed. */
  readonly played: Promise<void>;
  /** Stops the agents that are still being replayed. */
  stop(): Promise<void>;
}

/**
 * Fills an empty store with sample data: recorded agents replayed at their original pace, and an order for each demo
 * agent, one of which ends in the inbox. A non-empty store is left unchanged.
 *
 * @example
 * const demo = await showDemo({ store, lead, data })
 * await demo?.stop()
 */
export async function showDemo(options: ShowDemoOptions): Promise<RunningDemo | undefined> {
  const { store, lead, clock = () => store.now(), logger = silentLogger } = options;
  if (!(await isEmpty(store))) return undefined;
  const data = resolve(options.data);
  const stopping = new AbortController();
  const newId = createUlidGenerator(clock);

  async function play({ engine, spec, program }: RecordedAgent): Promise<void> {
    const id = newId();
    const workerId = `demo/${id}`;
    const workdir = join(data, 'demo-agents', engine);
    await makeFolder(workdir);
    await store.createRun({
      id,
      spec: { ...spec, workdir },
      state: 'running',
      workerId,
      leaseMs: DEFAULT_LEASE_MS,
      now: clock(),
    });
    const record = await store.findRun(id);
    if (record === undefined) return;
    const runs = { data, logger, clock, programs: { [engine]: program } };
    const context = { store, lead, runs, leaseMs: DEFAULT_LEASE_MS, clock, logger, signal: stopping.signal };
    await whileInProgress(workerId, async () => executeRun(context, { record, order: null, unresolved: [] }, workerId));
  }

  const repoDir = await makeDemoRepository(data);
  for (const agent of DEMO_AGENTS) await submitOnce(lead, agent, repoDir);
  const agents = await readRecordedAgents();
  const played = Promise.all(agents.map(play)).then(
    () => undefined,
    (error: unknown) => logger.warn('demo failed', { error: String(error) }),
  );
  return {
    played,
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
async function submitOnce(lead: ShowDemoOptions['lead'], worker: string, repoDir: string): Promise<void> {
  const request = createDemoRequest(worker, `local#demo-${worker}`, repoDir);
  try {
    await lead.submit({ ...request, request_id: `demo-${worker}` });
  } catch (error) {
    if (getErrorCode(error) !== 'REQUEST_ID_REUSED') throw error;
  }
}

async function isEmpty(store: Store): Promise<boolean> {
  const [runs, issues] = await Promise.all([store.listRuns({ limit: 1 }), store.listIssues({ limit: 1 })]);
  return runs.items.length + issues.items.length === 0;
}
