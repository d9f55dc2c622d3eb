import type { CompletedReason, CompletionState, EndSignal, ReasonCode, Verdict } from './protocol/completion.js';
import type { Failure } from './protocol/event-data.js';

/** Everything that speaks about how an attempt ended. */
export interface Evidence {
  readonly doneMarker: boolean;
  readonly endSignal: EndSignal | null;
  /** The engine's word on an error that ended its work. */
  readonly runtimeError: string | null;
  /** Its last word on any other error: it explains an exit code, and decides nothing. */
  readonly lastError: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly verdict: Verdict | null;
}

/** How an attempt ended. `conflict` says which evidence speaks against it, null if none does. */
export type Judgement = {
  readonly reason: ReasonCode;
  readonly confidence: number;
  readonly conflict: string | null;
} & (
  | { readonly state: Exclude<CompletionState, 'interrupted'> }
  | { readonly state: 'interrupted'; readonly failure: Failure }
);

/**
 * Judges an attempt by the order of precedence: what Sluice itself did to it, then in `auto` the verdict on the
 * output, then the done marker, the engine's end signal, an interruption. Evidence against the outcome does not
 * change it, but is told.
 */
export function judge(mode: 'auto' | 'interactive', evidence: Evidence): Judgement {
  const stopped = judgeStop(evidence);
  if (stopped !== null) return stopped;
  if (mode === 'auto') return judgeOutput(evidence);
  if (evidence.doneMarker) return completed(markerReason(evidence.verdict), 0.96, evidence);
  if (evidence.endSignal !== null) {
    return {
      state: 'awaiting_user_input',
      reason: 'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
      confidence: 0.92,
      conflict: troubleOf(evidence)?.message ?? null,
    };
  }
  return interrupted(evidence) ?? UNKNOWN;
}

const UNKNOWN: Judgement = {
  state: 'unknown',
  reason: 'INSUFFICIENT_EVIDENCE',
  confidence: 0.3,
  conflict: null,
};

function judgeStop({ verdict, doneMarker }: Evidence): Judgement | null {
  const failure = verdict === null ? undefined : STOPS[verdict];
  if (failure === undefined) return null;
  const conflict = doneMarker ? 'the done marker was found' : null;
  return { state: 'interrupted', reason: failure.code, confidence: 1, failure, conflict };
}

const STOPS: Partial<Record<Verdict, Failure>> = {
  canceled: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled.' },
  timed_out: { category: 'timeout', code: 'RUN_TIMED_OUT', message: 'The run took longer than it was allowed to.' },
  limit: { category: 'limit', code: 'RUN_LIMIT_EXCEEDED', message: 'The run went over one of its limits.' },
};

function judgeOutput(evidence: Evidence): Judgement {
  const { verdict } = evidence;
  if (verdict === 'validated') return completed('OUTPUT_VALIDATED', 1, evidence);
  if (verdict === 'comment') return completed('OUTPUT_DEGRADED_TO_COMMENT', 1, evidence);
  const trouble = troubleOf(evidence);
  if (verdict === 'no_contract') {
    const isClean = evidence.exitCode === 0 || evidence.endSignal !== null;
    if (trouble === null) return isClean ? completed('CLEAN_END', 0.92, evidence) : UNKNOWN;
    return { state: 'interrupted', reason: trouble.code, confidence: 0.9, failure: trouble, conflict: null };
  }
  const message = 'The output did not pass the schema of the contract.';
  const failure: Failure = {
    category: 'output',
    code: 'OUTPUT_NOT_VALIDATED',
    message: trouble === null ? message : `${message} ${trouble.message}`,
  };
  const conflict = evidence.doneMarker ? 'the done marker was found' : null;
  return { state: 'interrupted', reason: failure.code, confidence: 1, failure, conflict };
}

function markerReason(verdict: Verdict | null): CompletedReason {
  if (verdict === 'validated') return 'OUTPUT_VALIDATED';
  return verdict === 'comment' ? 'OUTPUT_DEGRADED_TO_COMMENT' : 'DONE_MARKER_FOUND';
}

function completed(reason: CompletedReason, confidence: number, evidence: Evidence): Judgement {
  const against = [
    troubleOf(evidence)?.message,
    evidence.verdict === 'not_validated' ? 'the output did not pass the schema of the contract' : undefined,
  ].filter((word) => word !== undefined);
  const conflict = against.length === 0 ? null : against.join(' ');
  return { state: 'completed', reason, confidence, conflict };
}

function interrupted(evidence: Evidence): Judgement | null {
  const failure = troubleOf(evidence);
  if (failure === null) return null;
  return { state: 'interrupted', reason: failure.code, confidence: 0.9, failure, conflict: null };
}

/** The sign that something went wrong, the one that explains most first. */
function troubleOf({ runtimeError, lastError, exitCode, signal }: Evidence): Failure | null {
  const because = lastError === null ? '' : ` Its last error: ${lastError}`;
  if (runtimeError !== null) return { category: 'engine', code: 'ENGINE_RUNTIME_ERROR', message: runtimeError };
  if (signal !== null) {
    return { category: 'process', code: 'PROCESS_SIGNALED', message: `The process was ended by ${signal}.${because}` };
  }
  if (exitCode !== null && exitCode !== 0) {
    const message = `The process ended with exit code ${exitCode}.${because}`;
    return { category: 'process', code: 'PROCESS_EXIT_NON_ZERO', message };
  }
  return null;
}
