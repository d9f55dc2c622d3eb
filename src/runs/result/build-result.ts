import { omitUndefined } from '../../base/index.js';
import { NO_CHANGES, type EngineFailure } from './run-findings.js';
import { REASON_CODES, type FcmpEvent } from '../../events/index.js';
import type { AttemptOutcome } from '../attempts/run-attempt.js';
import type { RunContext } from '../attempts/run-context.js';
import type { JudgedOutput } from '../judge/judge-output.js';
import type { RunFailure, RunResult } from '../../store/records/index.js';

/** Maximum candidates in a result; the first few are enough to see what is wrong. */
const MAX_CANDIDATES = 32;

/** Maximum repairs in a result; an answer can need one for every character. */
const MAX_REPAIRS = 100;

/** Builds a run's result from its last event, so the two always agree. */
export function buildResult(outcome: AttemptOutcome, context: RunContext): RunResult {
  const { last, judged, engineFailure } = outcome;
  const { findings, progress, spec, usage } = context;
  const { artifacts, drift, text } = progress;
  const outputWarnings =
    judged === null || judged.verdict === 'no_contract'
      ? []
      : judged.warnings.map(({ code, message }) => ({ code, message }));
  return {
    ...describeOutcome(last, judged, engineFailure),
    warnings: [...outputWarnings, ...outcome.warnings, ...context.warnings.values()],
    ...omitUndefined({ text }),
    ...findings.summarize(spec.model),
    artifacts,
    ...omitUndefined({ drift, usage: usage.total ?? undefined }),
    attempts: progress.attempts,
    session_id: progress.sessionId,
    ...(progress.captured.length === 0 ? {} : { captured: progress.captured }),
    ...omitUndefined({ process: outcome.process, sandbox: progress.sandbox }),
  };
}

type ResultContent = Pick<RunResult, 'status' | 'value' | 'comment' | 'repair_level' | 'repairs' | 'error'>;

/** Derives a run's outcome from its last event and the judged answer. */
export function describeOutcome(
  last: FcmpEvent,
  judged: JudgedOutput | null,
  engineFailure: EngineFailure | null,
): ResultContent {
  const engineError = describeEngineFailure(engineFailure);
  if (last.type === 'conversation.failed') {
    const { error } = last.data;
    const status = error.category === 'canceled' ? 'canceled' : 'failed';
    return { status, repair_level: 'none', error: { ...error, ...engineError, ...listFailureDetails(judged) } };
  }
  if (last.type !== 'conversation.completed')
    return { status: 'failed', repair_level: 'none', error: { ...UNEXPLAINED_FAILURE, ...engineError } };
  switch (judged?.verdict) {
    case 'validated':
      return {
        status: 'success',
        value: judged.value,
        repair_level: judged.repairLevel,
        ...(judged.repairs.length === 0 ? {} : { repairs: judged.repairs.slice(0, MAX_REPAIRS) }),
      };
    case 'comment':
      return { status: 'comment', comment: judged.comment, repair_level: 'none' };
    case 'no_contract':
    case 'not_validated':
    case undefined:
      return { status: 'success', repair_level: 'none' };
  }
}

/** The failure if neither the output nor the exit code shows whether the work was done. */
const UNEXPLAINED_FAILURE: RunFailure = {
  category: 'engine',
  code: 'INSUFFICIENT_EVIDENCE',
  message: REASON_CODES.INSUFFICIENT_EVIDENCE,
};

function describeEngineFailure(engineFailure: EngineFailure | null): Pick<RunFailure, 'cause' | 'http_status'> {
  if (engineFailure === null) return {};
  const { cause, httpStatus } = engineFailure;
  return { cause, ...omitUndefined({ http_status: httpStatus }) };
}

function listFailureDetails(judged: JudgedOutput | null): Pick<RunFailure, 'issues' | 'tried'> {
  if (judged?.verdict !== 'not_validated' || judged.error === undefined) return {};
  const { issues, attempts } = judged.error;
  const tried = attempts
    .slice(0, MAX_CANDIDATES)
    .map(({ candidate, code, message }) => ({ ...candidate, code, message }));
  return { ...omitUndefined({ issues }), tried };
}

/** Creates the result of a run that could not start, or whose output could not be stored. */
export function createFailedResult(code: string, message: string): RunResult {
  return {
    status: 'failed',
    repair_level: 'none',
    warnings: [],
    error: { category: 'process', code, message },
    artifacts: NO_CHANGES,
    attempts: 0,
    session_id: null,
  };
}
