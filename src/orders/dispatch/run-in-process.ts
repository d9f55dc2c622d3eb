import { createUlidGenerator, omitUndefined } from '../../base/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import type { Run, RunInputs } from '../../runs/index.js';
import { holdClaim, whileInProgress } from './hold-claim.js';
import { retryStore } from './retry-store.js';
import { CANCELED_BEFORE_START, runToEnd } from './run-to-end.js';
import type { WorkContext } from './worker-options.js';

/** A run that this process executes itself. */
export interface InProcessRun {
  readonly id?: string;
  readonly spec: RunSpec;
  /** Inputs for the agent besides the spec. */
  readonly inputs?: Partial<RunInputs>;
  /** Called when the run has started. */
  readonly onRun?: (run: Run) => void;
}

/**
 * Executes a run in this process immediately, without the queue. It is in the store like any other run: other processes can
 * follow its events, answer its questions and cancel it.
 */
export async function runInProcess(
  context: WorkContext,
  { id = createUlidGenerator(context.clock)(), spec, inputs, onRun }: InProcessRun,
): Promise<RunResult> {
  const { store, clock, leaseMs } = context;
  const workerId = `here/${id}`;
  const now = clock();
  await retryStore(async () => store.createRun({ id, spec, state: 'running', workerId, leaseMs, now }), context);
  return whileInProgress(workerId, async () => {
    const claim = holdClaim(context, { id, workerId });
    try {
      const started = await retryStore(async () => store.markStarted({ id, workerId, now: clock() }), context);
      const plan = { id, workerId, spec, lock: undefined, ...omitUndefined({ inputs, onRun }) };
      const result = started === 'started' ? await runToEnd(context, plan, claim) : CANCELED_BEFORE_START;
      await retryStore(async () => store.endRun({ id, workerId, result, now: clock() }), context);
      return result;
    } finally {
      await claim.end();
    }
  });
}
