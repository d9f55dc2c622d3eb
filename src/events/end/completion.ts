import { FAILURE_CODES } from '../protocol/completion.js';
import type { CompletedReason, CompletionState, EndSignal, ReasonCode, Verdict } from '../protocol/completion.js';
import type { Failure } from '../protocol/event-parts.js';

/** All evidence about how an attempt ended. */
export interface Evidence {
  readonly doneMarker: boolean;
  readonly endSignal: EndSignal | null;
  /** The engine's message about the error that ended its work. */
  readonly runtimeError: string | null;
  /** Whether `runtimeError` means that the engine's credentials were refused. */
  readonly isAuthError: boolean;
  /** The engine's last message about any other error: it explains an exit code, but does not affect the outcome. */
  readonly lastError: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly verdict: Verdict | null;
  /** The caller's explanation of the verdict. */
  readonly reason: string | null;
}

/** How an attempt ended. `conflict` describes the evidence that contradicts it, or is null. */
export type Judgement = {
  readonly reason: ReasonCode;
  readonly confidence: number;
  readonly conflict: string | null;
} & (
  | { readonly state: Exclude<CompletionState, 'interrupted' | 'awaiting_user_input'> }
  /** `completedAs`: in mode `auto` no one can answer, so the attempt ends as completed, for this reason. */
  | { readonly state: 'awaiting_user_input'; readonly completedAs: CompletedReason | null }
  | { readonly state: 'interrupted'; readonly failure: Failure }
);

/**
 * Judges an attempt by this order of precedence: Sluice ended it, then in `auto` the verdict on the output, then the
 * done marker, the engine's end signal, an interruption, and the verdict if no other evidence exists. Evidence against
 * the outcome does not change it, but is reported. If the agent printed the done marker but the contract rejects its
 * output, the attempt has failed, because there is no value.
 */
export function judge(mode: 'auto' | 'interactive', evidence: Evidence): Judgement {
  const stopJudgement = judgeStop(evidence);
  if (stopJudgement !== null) return stopJudgement;
  if (evidence.verdict === 'retry') return RETRY_JUDGEMENT;
  if (evidence.verdict === 'held') return HELD_JUDGEMENT;
  if (evidence.verdict === 'worker_lost') return WORKER_LOST_JUDGEMENT;
  if (mode === 'auto') return judgeOutput(evidence);
  if (evidence.doneMarker && evidence.verdict === 'not_validated') return judgeNotValidated(evidence);
  if (evidence.doneMarker) return createCompleted(chooseMarkerReason(evidence.verdict), 0.96, evidence);
  if (evidence.endSignal !== null) {
    return createAwaiting(null, evidence);
  }
  return findInterruption(evidence) ?? judgeVerdict(evidence) ?? UNKNOWN_JUDGEMENT;
}

/** Judges by the verdict alone, for agents without an end signal. */
function judgeVerdict(evidence: Evidence): Judgement | null {
  if (evidence.verdict === 'validated') return createCompleted('OUTPUT_VALIDATED', 1, evidence);
  return evidence.verdict === 'comment' ? createCompleted('OUTPUT_DEGRADED_TO_COMMENT', 1, evidence) : null;
}

const UNKNOWN_JUDGEMENT: Judgement = {
  state: 'unknown',
  reason: 'INSUFFICIENT_EVIDENCE',
  confidence: 0.3,
  conflict: null,
};

/** Not the end of the run: the next attempt gets the reasons. */
const RETRY_JUDGEMENT: Judgement = { state: 'unknown', reason: 'OUTPUT_RETRIED', confidence: 1, conflict: null };

/** Not the end of the run: the answer to the permission request resumes it. */
const HELD_JUDGEMENT: Judgement = {
  state: 'awaiting_user_input',
  reason: 'PERMISSION_PENDING',
  confidence: 1,
  conflict: null,
  completedAs: null,
};

/** Not the end of the run: its session is resumed. */
const WORKER_LOST_JUDGEMENT: Judgement = { state: 'unknown', reason: 'WORKER_LOST', confidence: 1, conflict: null };

function judgeStop({ verdict, doneMarker, reason }: Evidence): Judgement | null {
  const stop = verdict === null ? undefined : STOP_FAILURES[verdict];
  if (stop === undefined) return null;
  const failure = reason === null ? stop : { ...stop, message: reason };
  const conflict = doneMarker ? 'The done marker was found.' : null;
  return { state: 'interrupted', reason: failure.code, confidence: 1, failure, conflict };
}

const STOP_FAILURES: Partial<Record<Verdict, Failure>> = {
  canceled: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled.' },
  timed_out: { category: 'timeout', code: 'RUN_TIMED_OUT', message: FAILURE_CODES.RUN_TIMED_OUT },
  limit: { category: 'limit', code: 'RUN_LIMIT_EXCEEDED', message: 'The run exceeded one of its limits.' },
  storage_limit: { category: 'limit', code: 'RUN_STORAGE_EXCEEDED', message: FAILURE_CODES.RUN_STORAGE_EXCEEDED },
  budget: { category: 'limit', code: 'RUN_BUDGET_EXCEEDED', message: FAILURE_CODES.RUN_BUDGET_EXCEEDED },
  not_started: { category: 'process', code: 'PROCESS_NOT_STARTED', message: FAILURE_CODES.PROCESS_NOT_STARTED },
  no_sandbox: { category: 'process', code: 'SANDBOX_UNAVAILABLE', message: FAILURE_CODES.SANDBOX_UNAVAILABLE },
  protocol_broken: { category: 'engine', code: 'PROTOCOL_BROKEN', message: FAILURE_CODES.PROTOCOL_BROKEN },
  session_lost: { category: 'engine', code: 'SESSION_LOST', message: FAILURE_CODES.SESSION_LOST },
};

function judgeOutput(evidence: Evidence): Judgement {
  const { verdict } = evidence;
  if (verdict === 'validated') return createCompleted('OUTPUT_VALIDATED', 1, evidence);
  // The output of a failed process is not a comment: it was not intended as an answer.
  if (verdict === 'comment')
    return findInterruption(evidence) ?? createEnded('OUTPUT_DEGRADED_TO_COMMENT', 1, evidence);
  if (verdict === 'no_contract') {
    const isClean = evidence.exitCode === 0 || evidence.endSignal !== null;
    return findInterruption(evidence) ?? (isClean ? createEnded('CLEAN_END', 0.92, evidence) : UNKNOWN_JUDGEMENT);
  }
  return judgeNotValidated(evidence);
}

function judgeNotValidated(evidence: Evidence): Judgement {
  const processFailure = findFailure(evidence);
  const message = evidence.reason ?? FAILURE_CODES.OUTPUT_NOT_VALIDATED;
  const failure: Failure = {
    category: 'output',
    code: 'OUTPUT_NOT_VALIDATED',
    message: processFailure === null ? message : `${message} ${processFailure.message}`,
  };
  const conflict = evidence.doneMarker ? 'The done marker was found.' : null;
  return { state: 'interrupted', reason: failure.code, confidence: 1, failure, conflict };
}

function chooseMarkerReason(verdict: Verdict | null): CompletedReason {
  if (verdict === 'validated') return 'OUTPUT_VALIDATED';
  return verdict === 'comment' ? 'OUTPUT_DEGRADED_TO_COMMENT' : 'DONE_MARKER_FOUND';
}

function createCompleted(reason: CompletedReason, confidence: number, evidence: Evidence): Judgement {
  return { state: 'completed', reason, confidence, conflict: findFailure(evidence)?.message ?? null };
}

/** An end signal without the done marker is a question, even if no one can answer it. */
function createEnded(reason: CompletedReason, confidence: number, evidence: Evidence): Judgement {
  const isQuestion = evidence.endSignal !== null && !evidence.doneMarker;
  return isQuestion ? createAwaiting(reason, evidence) : createCompleted(reason, confidence, evidence);
}

function createAwaiting(completedAs: CompletedReason | null, evidence: Evidence): Judgement {
  return {
    state: 'awaiting_user_input',
    reason: 'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    confidence: 0.92,
    conflict: findFailure(evidence)?.message ?? null,
    completedAs,
  };
}

function findInterruption(evidence: Evidence): Judgement | null {
  const failure = findFailure(evidence);
  if (failure === null) return null;
  const message = evidence.reason === null ? failure.message : `${failure.message} ${evidence.reason}`;
  return {
    state: 'interrupted',
    reason: failure.code,
    confidence: 0.9,
    failure: { ...failure, message },
    conflict: null,
  };
}

/** Returns the failure shown by the evidence; the most informative kind is checked first. */
function findFailure({ runtimeError, isAuthError, lastError, exitCode, signal }: Evidence): Failure | null {
  const lastErrorText = lastError === null ? '' : ` Its last error: ${lastError}`;
  if (runtimeError !== null) {
    const code = isAuthError ? 'ENGINE_AUTH_FAILED' : 'ENGINE_RUNTIME_ERROR';
    return { category: 'engine', code, message: runtimeError };
  }
  if (signal !== null) {
    return {
      category: 'process',
      code: 'PROCESS_SIGNALED',
      message: `The process was killed by ${signal}.${lastErrorText}`,
    };
  }
  if (exitCode !== null && exitCode !== 0) {
    const message = `The process exited with code ${exitCode}.${lastErrorText}`;
    return { category: 'process', code: 'PROCESS_EXIT_NON_ZERO', message };
  }
  return null;
}
