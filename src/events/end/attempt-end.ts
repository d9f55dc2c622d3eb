import { findKnownCause } from '../attempt/engine-error.js';
import type { Outcome, Reducer } from '../attempt/reducer.js';
import type { Engine } from '../engines/engine.js';
import type { EventWriter } from '../mapping/event-writer.js';
import {
  type Verdict,
  FAILURE_CODES,
  type CompletedReason,
  type CompletionState,
  type ReasonCode,
} from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import { writeArtifacts, type FsDiff } from './artifacts.js';
import type { Failure, FailureCause, RunFailureCause } from '../protocol/event-parts.js';

/** The facts known once the process has exited. */
export interface AttemptEnd {
  /** Null if a signal killed the process, or if the code is unknown. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly fsDiff?: FsDiff | undefined;
  /** The caller's verdict on the attempt, which cannot be derived from the bytes. */
  readonly verdict?: Verdict | undefined;
  /** Explains the verdict: the exceeded limit, the command that was not found, the rejected value. */
  readonly reason?: string | undefined;
  /** For `placement_failed` and `engine_failed`. */
  readonly cause?: RunFailureCause | undefined;
  /** The caller's warnings about the bytes, for example that their interleaving is unknown. */
  readonly warnings?: readonly { readonly code: DiagnosticCode; readonly message: string }[] | undefined;
}

interface EndContext {
  readonly engine: Engine;
  readonly mode: 'auto' | 'interactive';
  readonly end: AttemptEnd;
  readonly bytes: number;
  /** Time since the last byte. */
  readonly silenceMs: number;
}

/** A process that is still alive this long after its end signal counts as hung. */
const SILENCE_MS = 30_000;

/** Reports how the attempt ended: artifacts, warnings, the judgement, and exactly one last event. */
export function endAttempt(attempt: Reducer, writer: EventWriter, context: EndContext): void {
  const { end, mode } = context;
  const evidence = {
    ...attempt.evidence,
    doneMarker: attempt.messages.doneMarkers > 0,
    exitCode: end.exitCode,
    signal: end.signal,
    verdict: end.verdict ?? null,
    reason: end.reason ?? null,
    stopCause: end.cause ?? null,
  };
  if (end.fsDiff !== undefined) writeArtifacts(writer, attempt.tools.fileCalls, end.fsDiff);
  for (const { code, message } of end.warnings ?? []) writer.warn(code, message);
  writeWarnings(attempt, writer, context);
  const judgement = judge(mode, evidence);
  writer.write('lifecycle.completion.state', {
    state: judgement.state,
    reason_code: judgement.reason,
    confidence: judgement.confidence,
    evidence: {
      done_marker: evidence.doneMarker,
      end_signal: evidence.endSignal,
      runtime_error: evidence.runtimeError,
      exit_code: evidence.exitCode,
      signal: evidence.signal,
      verdict: evidence.verdict,
    },
  });
  if (judgement.conflict !== null) {
    const { state, reason, conflict } = judgement;
    const message = `The attempt counts as ${state} (${reason}) despite contrary evidence: ${conflict}`;
    writer.warn('TERMINAL_STATUS_COMPLETION_CONFLICT', message, { confidence: judgement.confidence });
  }
  writeLastEvent(attempt, writer, judgement, end);
}

/** Starts the conversation if the agent produced output but never named its session. Called after the last byte. */
export function startWithoutSession(attempt: Reducer, writer: EventWriter, engine: Engine): void {
  if (attempt.session.isStarted) return;
  if (!attempt.hasActivity) return writer.release();
  attempt.session.start(writer.sessionId);
  if (engine.guarantees.session !== 'never') writer.warn('SESSION_ID_MISSING');
}

function writeWarnings(attempt: Reducer, writer: EventWriter, { engine, end, bytes, silenceMs }: EndContext): void {
  const isStopped = end.verdict !== undefined && STOP_VERDICTS.has(end.verdict);
  const { endSignal, runtimeError } = attempt.evidence;
  const hasEnded = endSignal !== null || runtimeError !== null;
  if (bytes === 0 && !isStopped) writer.warn('NO_OUTPUT');
  else if (engine.guarantees.endSignal && !attempt.isPlainText && !hasEnded && !isStopped) {
    // Node.js programs such as Gemini exit without waiting until a pipe's reader has read their output; the rest never
    // leaves their process.
    const message = `${engine.name} exited before it had written all of its output: the last record is cut off, and the rest is lost. Make it print less, such as the output of its tools.`;
    writer.warn('EARLY_END_OF_STREAM', end.exitCode === 0 && attempt.isCutOff ? message : undefined);
  }
  if (hasEnded && silenceMs > SILENCE_MS) writer.warn('SILENCE_AFTER_END');
  if (attempt.messages.doneMarkers > 1) writer.warn('DONE_MARKER_REPEATED');
}

function writeLastEvent(attempt: Reducer, writer: EventWriter, judgement: Judgement, end: AttemptEnd): void {
  const { usage: total, lastMessage } = attempt.evidence;
  const usage = total === null ? undefined : { usage: total };
  const isAnswerable = judgement.state !== 'awaiting_user_input' || judgement.completedAs === null;
  const lastFields = { ...attempt.facts.last, ...usage };
  if (isAnswerable) writer.lastFields = lastFields;
  const exit = { exit_code: end.exitCode, signal: end.signal };
  switch (judgement.state) {
    case 'completed':
      return writer.write('lifecycle.run.completed', { reason_code: judgement.reason, ...exit, ...usage });
    case 'interrupted': {
      const { failure } = judgement;
      const type = failure.category === 'canceled' ? 'lifecycle.run.canceled' : 'lifecycle.run.failed';
      return writer.write(type, { error: failure, ...exit, ...usage });
    }
    case 'awaiting_user_input': {
      if (judgement.reason === 'PERMISSION_PENDING') return writer.warn('PERMISSION_PENDING');
      const id = `ix_${writer.attempt}`;
      const data = { interaction_id: id, kind: 'open_text', prompt: lastMessage } as const;
      const { completedAs } = judgement;
      if (completedAs === null) return writer.write('interaction.user_input.required', data, { interaction_id: id });
      writer.warn('DONE_MARKER_MISSING');
      writer.write('interaction.user_input.required', { ...data, answerable: false }, { interaction_id: id });
      writer.lastFields = lastFields;
      return writer.write('lifecycle.run.completed', { reason_code: completedAs, ...exit, ...usage });
    }
    case 'unknown':
      if (judgement.reason === 'OUTPUT_RETRIED') return writer.warn('OUTPUT_RETRIED', end.reason);
      if (judgement.reason === 'WORKER_LOST') return writer.warn('WORKER_LOST', end.reason);
      return writer.warn('INCOMPLETE_STATE_CLASSIFICATION', undefined, { confidence: judgement.confidence });
  }
}

export interface Evidence extends Outcome {
  readonly doneMarker: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  readonly stopCause?: RunFailureCause | null;
}

/** How an attempt ended. `conflict` describes the evidence that contradicts it, or is null. */
type Judgement = {
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
  const { verdict } = evidence;
  const stopJudgement = judgeStop(evidence) ?? (verdict === null ? undefined : OPEN_JUDGEMENTS[verdict]);
  if (stopJudgement !== undefined) return stopJudgement;
  if (mode === 'auto') return judgeOutput(evidence);
  if (evidence.doneMarker && verdict === 'not_validated') return judgeNotValidated(evidence);
  const reason = verdict === null ? undefined : OUTPUT_REASONS[verdict];
  if (evidence.doneMarker) return createCompleted(reason ?? 'DONE_MARKER_FOUND', 0.96, evidence);
  if (evidence.endSignal !== null) return createAwaiting(null, evidence);
  const verdictJudgement = reason === undefined ? undefined : createCompleted(reason, 1, evidence);
  return findInterruption(evidence) ?? verdictJudgement ?? UNKNOWN_JUDGEMENT;
}

const OUTPUT_REASONS: Partial<Record<Verdict, CompletedReason>> = {
  validated: 'OUTPUT_VALIDATED',
  comment: 'OUTPUT_DEGRADED_TO_COMMENT',
};

const UNKNOWN_JUDGEMENT: Judgement = {
  state: 'unknown',
  reason: 'INSUFFICIENT_EVIDENCE',
  confidence: 0.3,
  conflict: null,
};

const CERTAIN = { confidence: 1, conflict: null } as const;

/** Not the end of the run: the next attempt gets the reasons, the answer to the permission request, or the session. */
const OPEN_JUDGEMENTS: Partial<Record<Verdict, Judgement>> = {
  retry: { state: 'unknown', reason: 'OUTPUT_RETRIED', ...CERTAIN },
  held: { state: 'awaiting_user_input', reason: 'PERMISSION_PENDING', ...CERTAIN, completedAs: null },
  worker_lost: { state: 'unknown', reason: 'WORKER_LOST', ...CERTAIN },
};

function judgeStop({ verdict, doneMarker, reason, lastCause, stopCause = null }: Evidence): Judgement | undefined {
  const stop = verdict === null ? undefined : STOP_FAILURES[verdict];
  if (stop === undefined) return undefined;
  const cause = stopCause ?? lastCause;
  const code = verdict === 'engine_failed' && cause === 'auth' ? 'ENGINE_AUTH_FAILED' : stop.code;
  const failure = { ...stop, code, message: reason ?? stop.message, ...(cause === null ? {} : { cause }) };
  return createInterrupted(failure, 1, doneMarker);
}

const STOP_FAILURES: Partial<Record<Verdict, Failure>> = {
  canceled: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled.' },
  timed_out: { category: 'timeout', code: 'RUN_TIMED_OUT', message: FAILURE_CODES.RUN_TIMED_OUT },
  limit: { category: 'limit', code: 'RUN_LIMIT_EXCEEDED', message: 'The run exceeded one of its limits.' },
  storage_limit: { category: 'limit', code: 'RUN_STORAGE_EXCEEDED', message: FAILURE_CODES.RUN_STORAGE_EXCEEDED },
  budget: { category: 'limit', code: 'RUN_BUDGET_EXCEEDED', message: FAILURE_CODES.RUN_BUDGET_EXCEEDED },
  engine_failed: { category: 'engine', code: 'ENGINE_RUNTIME_ERROR', message: FAILURE_CODES.ENGINE_RUNTIME_ERROR },
  not_started: { category: 'process', code: 'PROCESS_NOT_STARTED', message: FAILURE_CODES.PROCESS_NOT_STARTED },
  no_sandbox: { category: 'process', code: 'SANDBOX_UNAVAILABLE', message: FAILURE_CODES.SANDBOX_UNAVAILABLE },
  placement_failed: { category: 'process', code: 'PLACEMENT_FAILED', message: FAILURE_CODES.PLACEMENT_FAILED },
  protocol_broken: { category: 'engine', code: 'PROTOCOL_BROKEN', message: FAILURE_CODES.PROTOCOL_BROKEN },
  session_lost: { category: 'engine', code: 'SESSION_LOST', message: FAILURE_CODES.SESSION_LOST },
};

/** Verdicts on attempts that Sluice itself ended or never started, where missing output is expected. */
const STOP_VERDICTS: ReadonlySet<string> = new Set([...Object.keys(STOP_FAILURES), 'held', 'worker_lost']);

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
  const cause = findFailure(evidence);
  // An engine that failed has not answered, so its failure explains more than the missing value does.
  if (cause?.category === 'engine' && !evidence.doneMarker) return createInterrupted(cause);
  const message = evidence.reason ?? FAILURE_CODES.OUTPUT_NOT_VALIDATED;
  const failure: Failure = {
    category: 'output',
    code: 'OUTPUT_NOT_VALIDATED',
    message: cause === null ? message : `${message} ${cause.message}`,
  };
  return createInterrupted(failure, 1, evidence.doneMarker);
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
  return createInterrupted({ ...failure, message });
}

function createInterrupted(failure: Failure, confidence = 0.9, doneMarker = false): Judgement {
  const conflict = doneMarker ? 'The done marker was found.' : null;
  return { state: 'interrupted', reason: failure.code, confidence, failure, conflict };
}

/**
 * Returns the failure shown by the evidence; the most informative kind is checked first. An engine that exits after an
 * error with a known cause failed because of it, even if it did not print that the error ended its work.
 */
function findFailure({ runtimeError, lastError, lastCause, exitCode, signal }: Evidence): Failure | null {
  const lastErrorText = lastError === null ? '' : ` Its last error: ${lastError}`;
  if (runtimeError !== null) return createEngineFailure(runtimeError, lastCause);
  if (signal !== null) {
    return {
      category: 'process',
      code: 'PROCESS_SIGNALED',
      message: `The process was killed by ${signal}.${lastErrorText}`,
      ...nameCause(lastError, lastCause),
    };
  }
  if (exitCode !== null && exitCode !== 0) {
    const message = `The process exited with code ${exitCode}.${lastErrorText}`;
    if (lastCause !== null) return createEngineFailure(message, lastCause);
    return { category: 'process', code: 'PROCESS_EXIT_NON_ZERO', message };
  }
  return null;
}

const MISSING_VARIABLE =
  /\bmissing environment variable\b|\benvironment variable\b[^\n]{0,80}\bnot (?:set|found|defined)\b/i;

/** Callers often have set the variable, and do not expect that agents lack it. */
const VARIABLE_HINT = 'Agents only receive variables of their engine and those named in `env` (`--env NAME`).';

function createEngineFailure(message: string, lastCause: FailureCause | null): Failure {
  const cause = nameCause(message, lastCause);
  const code = cause.cause === 'auth' ? 'ENGINE_AUTH_FAILED' : 'ENGINE_RUNTIME_ERROR';
  const hint = MISSING_VARIABLE.test(message) ? ` ${VARIABLE_HINT}` : '';
  return { category: 'engine', code, message: `${message}${hint}`, ...cause };
}

function nameCause(error: string | null, lastCause: FailureCause | null): Pick<Failure, 'cause'> {
  const cause = lastCause ?? (error === null ? null : findKnownCause(error));
  return cause === null ? {} : { cause };
}
