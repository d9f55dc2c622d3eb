import type { Reducer } from '../attempt/reducer.js';
import type { Engine } from '../engines/engine.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { Verdict } from '../protocol/completion.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import { writeArtifacts } from './artifacts.js';
import type { FsDiff } from './artifacts.js';
import { judge } from './completion.js';
import type { Judgement } from './completion.js';

/** The facts known once the process has exited. */
export interface AttemptEnd {
  /** Null if a signal killed the process, or if the code is unknown. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly fsDiff?: FsDiff | undefined;
  /** The caller's verdict on the attempt, which cannot be derived from the bytes. */
  readonly verdict?: Verdict | undefined;
  /**
   * Explains the verdict: the exceeded limit, the command that could not be started, the value that the schema
   * rejected.
   */
  readonly reason?: string | undefined;
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

/** Verdicts on attempts that Sluice itself ended or never started, where missing output is expected. */
const STOP_VERDICTS: ReadonlySet<Verdict> = new Set([
  'canceled',
  'timed_out',
  'limit',
  'storage_limit',
  'budget',
  'not_started',
  'no_sandbox',
  'session_lost',
  'protocol_broken',
  'held',
  'worker_lost',
]);

/** Reports how the attempt ended: artifacts, warnings, the judgement, and exactly one last event. */
export function endAttempt(attempt: Reducer, writer: EventWriter, context: EndContext): void {
  const { end, mode } = context;
  const { endSignal, runtimeError, isAuthError, lastError } = attempt.evidence;
  const evidence = {
    doneMarker: attempt.messages.doneMarkers > 0,
    endSignal,
    runtimeError,
    isAuthError,
    lastError,
    exitCode: end.exitCode,
    signal: end.signal,
    verdict: end.verdict ?? null,
    reason: end.reason ?? null,
  };
  if (end.fsDiff !== undefined) writeArtifacts(writer, attempt.tools.fileCalls, end.fsDiff);
  for (const { code, message } of end.warnings ?? []) writer.warn(code, message);
  for (const code of listWarnings(attempt, context)) writer.warn(code);
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
    writer.warn('TERMINAL_STATUS_COMPLETION_CONFLICT', message);
  }
  writeLastEvent(attempt, writer, judgement, end);
}

/** Starts the conversation if the agent produced output but never named its session. Called after the last byte. */
export function startWithoutSession(attempt: Reducer, writer: EventWriter, engine: Engine): void {
  if (attempt.session.isStarted || !attempt.hasActivity) return;
  attempt.session.start(writer.sessionId);
  if (engine.guarantees.session !== 'never') writer.warn('SESSION_ID_MISSING');
}

function listWarnings(attempt: Reducer, { engine, end, bytes, silenceMs }: EndContext): DiagnosticCode[] {
  const codes: DiagnosticCode[] = [];
  const isStopped = end.verdict !== undefined && STOP_VERDICTS.has(end.verdict);
  const { endSignal, runtimeError } = attempt.evidence;
  const hasEnded = endSignal !== null || runtimeError !== null;
  if (bytes === 0 && !isStopped) codes.push('NO_OUTPUT');
  else if (engine.guarantees.endSignal && !attempt.isPlainText && !hasEnded && !isStopped)
    codes.push('EARLY_END_OF_STREAM');
  if (hasEnded && silenceMs > SILENCE_MS) codes.push('SILENCE_AFTER_END');
  if (attempt.messages.doneMarkers > 1) codes.push('DONE_MARKER_REPEATED');
  return codes;
}

function writeLastEvent(attempt: Reducer, writer: EventWriter, judgement: Judgement, end: AttemptEnd): void {
  const { usage: total, lastMessage } = attempt.evidence;
  const usage = total === null ? undefined : { usage: total };
  const isAnswerable = judgement.state !== 'awaiting_user_input' || judgement.completedAs === null;
  if (isAnswerable) writer.usage = total;
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
      writer.usage = total;
      return writer.write('lifecycle.run.completed', { reason_code: completedAs, ...exit, ...usage });
    }
    case 'unknown':
      if (judgement.reason === 'OUTPUT_RETRIED') return writer.warn('OUTPUT_RETRIED', end.reason);
      if (judgement.reason === 'WORKER_LOST') return writer.warn('WORKER_LOST', end.reason);
      return writer.warn('INCOMPLETE_STATE_CLASSIFICATION', undefined, { confidence: judgement.confidence });
  }
}
