/** What a result of a run may have to say beside the warnings of its output. A closed list: `docs/errors.md` has each. */
export const RUN_WARNING_CODES = ['ARTIFACTS_INCOMPLETE', 'TERMINAL_STATUS_COMPLETION_CONFLICT'] as const;

/** One of {@link RUN_WARNING_CODES}. */
export type RunWarningCode = (typeof RUN_WARNING_CODES)[number];

/** Something the owner of a run should know about a result that is otherwise fine. */
export interface RunWarning {
  readonly code: RunWarningCode;
  readonly message: string;
}
