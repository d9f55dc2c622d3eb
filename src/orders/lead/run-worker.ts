import { errorMessageOf } from '../../base/index.js';
import type { OrderRecord, RunResult, RunSpec } from '../../records/index.js';
import { readLastAttempt } from '../../run-folder/index.js';
import { STREAM_BYTES } from '../reading/read-streams.js';
import { RESULT_FILES } from '../reading/result-file.js';
import { collectResult } from '../wrappers/collect.js';
import type { Injection } from '../wrappers/injection.js';
import type { LeadContext } from './lead-context.js';
import { keepAbsentFile } from './run-folder-files.js';
import type { WorkerEnd } from './settle.js';

/** A run under way, as far as an order needs it. */
export interface OrderRun {
  readonly result: Promise<RunResult>;
  cancel(): unknown;
}

/** Starts a worker: the run `id`, with these variables beside those its spec names. */
export type StartOrderRun = (run: {
  readonly id: string;
  readonly spec: RunSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly record: OrderRecord;
}) => Promise<OrderRun> | OrderRun;

/** How a worker ended whose end nobody saw, also because it never began. */
export const NOT_SEEN = { exitCode: null, signal: null } as const;

/** Runs the worker of an order to its end, or until it is to stop, and takes in what it left. */
export async function runWorker(
  context: LeadContext,
  record: OrderRecord,
  { spec, env }: Injection,
  { startRun, stop }: { readonly startRun: StartOrderRun; readonly stop: AbortSignal },
): Promise<WorkerEnd> {
  let run: OrderRun;
  try {
    run = await startRun({ id: record.run, spec, env, record });
  } catch (error) {
    return { ...NOT_SEEN, startError: errorMessageOf(error) };
  }
  const cancel = () => void run.cancel();
  if (stop.aborted) cancel();
  stop.addEventListener('abort', cancel, { once: true });
  const result = await run.result;
  stop.removeEventListener('abort', cancel);
  const runDir = context.runFolderOf(record.run);
  const { file, draft } = collectResult(result);
  if (file !== undefined) await keepAbsentFile(runDir, file, RESULT_FILES);
  const { stdout, stderr } = await readLastAttempt(runDir, STREAM_BYTES);
  return { ...endOf(result), stdout, stderr, ...(draft === undefined ? {} : { draft }) };
}

/** How the worker's process ended, as the run saw it. */
function endOf({ process: ended, error, status }: RunResult): WorkerEnd {
  if (ended === undefined) {
    return { ...NOT_SEEN, startError: error?.message ?? `the run ended as ${status} before its process began` };
  }
  const { exit_code, signal, command, version } = ended;
  // A worker that Sluice stopped may still exit with 0: it was stopped all the same.
  const wasStopped = error?.category === 'canceled' || error?.category === 'timeout' || error?.category === 'limit';
  return {
    exitCode: wasStopped ? null : exit_code,
    signal: wasStopped ? (signal ?? 'SIGTERM') : signal,
    command,
    workerVersion: version,
    // That a process exited or was killed, exit code and signal say already.
    ...(error === undefined || error.category === 'process' ? {} : { runError: error.message }),
  };
}
