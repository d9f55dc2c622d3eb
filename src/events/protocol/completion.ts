/** The states of an attempt that has ended. */
export const COMPLETION_STATES = ['completed', 'awaiting_user_input', 'interrupted', 'unknown'] as const;

/** The state of an attempt that has ended. */
export type CompletionState = (typeof COMPLETION_STATES)[number];

/** A run's verdicts on an attempt, which cannot be derived from its bytes alone. */
export const VERDICTS = [
  'validated',
  'not_validated',
  'comment',
  'no_contract',
  'canceled',
  'timed_out',
  'limit',
  'storage_limit',
  'budget',
  'engine_failed',
  'retry',
  'not_started',
  'no_sandbox',
  'placement_failed',
  'session_lost',
  'protocol_broken',
  'held',
  'worker_lost',
] as const;

/** One of `VERDICTS`. */
export type Verdict = (typeof VERDICTS)[number];

/** Reasons why an attempt counts as completed. */
export const COMPLETED_REASONS = {
  DONE_MARKER_FOUND: 'The agent printed `"__SKILL_DONE__": true` in its answer.',
  OUTPUT_VALIDATED: 'The output passed the contract schema.',
  OUTPUT_DEGRADED_TO_COMMENT: 'The output contains no value and is returned as a comment, as the contract allows.',
  CLEAN_END: 'There is no contract, and the engine exited cleanly.',
} as const;

/** Reasons why an attempt counts as failed: the `error.code` of `conversation.failed`. */
export const FAILURE_CODES = {
  PROCESS_EXIT_NON_ZERO: 'The process exited with a non-zero code.',
  PROCESS_SIGNALED: 'The process was killed by a signal.',
  ENGINE_RUNTIME_ERROR: 'The engine reported an error that ended its work.',
  ENGINE_AUTH_FAILED: 'The engine stopped because its credentials were rejected.',
  OUTPUT_NOT_VALIDATED: 'The output did not pass the contract schema.',
  RUN_CANCELED: 'The run was canceled by its owner.',
  RUN_TIMED_OUT: 'The run exceeded its time limit.',
  PROCESS_NOT_STARTED: 'The agent could not be started.',
  SANDBOX_UNAVAILABLE: 'The run requires a sandbox, but none is available.',
  PLACEMENT_FAILED: 'The container of the agent could not be started, or was lost.',
  SESSION_LOST: 'The run has no session to resume, so the answer cannot be passed to the agent.',
  PROTOCOL_BROKEN: 'The agent violated the conversation protocol.',
  RUN_LIMIT_EXCEEDED: 'The run exceeded one of its limits (bytes, line length, tokens, cost).',
  RUN_STORAGE_EXCEEDED: 'The run exceeded its limit of stored events or bytes.',
  RUN_BUDGET_EXCEEDED: 'The run was stopped because a budget was used up.',
} as const;

/** Reasons why an attempt counts as neither completed nor failed. */
const OPEN_REASONS = {
  TERMINAL_SIGNAL_WITHOUT_DONE_MARKER: 'The engine ended its turn without the done marker: it waits for an answer.',
  OUTPUT_RETRIED: 'The output did not pass the contract schema, and the agent is asked again.',
  PERMISSION_PENDING: 'The agent requested permission and waits for an answer; its session is resumed with the answer.',
  WORKER_LOST: 'The worker was lost while the agent was working; its session is resumed in the next attempt.',
  INSUFFICIENT_EVIDENCE: 'It is unknown how the attempt ended.',
} as const;

/** Every `reason_code`, with its meaning. */
export const REASON_CODES = { ...COMPLETED_REASONS, ...OPEN_REASONS, ...FAILURE_CODES } as const;

export type CompletedReason = keyof typeof COMPLETED_REASONS;
/** Why an attempt ended in its state; `docs/errors.md` explains each reason. */
export type ReasonCode = keyof typeof REASON_CODES;

/** The kinds of failure. */
export const ERROR_CATEGORIES = ['canceled', 'timeout', 'limit', 'engine', 'process', 'output'] as const;

/** The end signals of the built-in engines; `evidence.end_signal` is the detected signal. */
const END_SIGNALS = [
  'CODEX_TURN_COMPLETED',
  'GEMINI_RESPONSE_OBJECT_FINISHED',
  'GEMINI_STREAM_RESULT_SUCCESS',
  'IFLOW_EXECUTION_INFO_CLOSED',
  'OPENCODE_STEP_FINISH_STOP',
  'CLAUDE_RESULT_SUCCESS',
  'QWEN_RESULT_SUCCESS',
  'COPILOT_RESULT_SUCCESS',
  'ACP_PROMPT_END_TURN',
] as const;

/** The signal that ends an engine's turn, from a built-in or a custom engine. */
export type EndSignal = (typeof END_SIGNALS)[number] | (string & {});

/** An end signal on the wire. */
export const endSignalName = { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' } as const;
