import { errorMessageOf, isSluiceError } from '../base/index.js';
import { untilDone } from '../orders/index.js';
import type { RunRecord, RunResult } from '../records/index.js';
import { failedResult, startRun } from '../runs/index.js';
import type { Run } from '../runs/index.js';
import { attendRun } from './attend-run.js';
import type { LostRunCode } from './lost-run-codes.js';
import type { WorkContext } from './work-context.js';

const NOT_STARTED: LostRunCode = 'RUN_NOT_STARTED';

/** Does a claimed run to its end. */
export async function doRun(
  context: Omit<WorkContext, 'lead'>,
  record: RunRecord,
  workerId: string,
): Promise<RunResult> {
  const { store, clock, logger, signal, leaseMs } = context;
  let run: Run;
  try {
    run = startRun(record.spec, { ...context.runs, eventLog: store, cache: store, newId: () => record.id });
  } catch (error) {
    // What cannot be started at all was queued by somebody who did not check: that is the run's result.
    const code = isSluiceError(error) ? error.code : NOT_STARTED;
    const result = failedResult(code, errorMessageOf(error));
    await untilDone(async () => store.endRun({ id: record.id, workerId, result, now: clock() }), context);
    return result;
  }
  const isInteractive = record.spec.mode === 'interactive';
  return attendRun({ run, isInteractive, workerId, leaseMs, store, clock, logger, signal });
}
