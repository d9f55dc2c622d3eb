/** Warnings in a run's result, besides those about its output. A closed list: `docs/errors.md` explains each. */
export const RUN_WARNING_CODES = [
  'ARTIFACTS_INCOMPLETE',
  'TERMINAL_STATUS_COMPLETION_CONFLICT',
  'DONE_MARKER_MISSING',
  'TEXT_SHORTENED',
  'INVALID_UTF8',
  'COST_NOT_REPORTED',
  'UNPROVEN_VERSION',
  'NOT_CACHED',
  'SANDBOX_INCOMPLETE',
] as const;

/** One of {@link RUN_WARNING_CODES}. */
export type RunWarningCode = (typeof RUN_WARNING_CODES)[number];

/** A warning about a result that is otherwise valid. */
export interface RunWarning {
  readonly code: RunWarningCode;
  readonly message: string;
}
