/** Why an order did not succeed; `none` if it did. */
export const RESULT_CODES = [
  'none',
  'dep_unresolved',
  'test_failed',
  'ci_failed',
  'review_changes_requested',
  'env_unavailable',
  'permission_denied',
  'output_unparseable',
  'stale_run',
  'manual_intervention',
  'evidence_contradicted',
  'superseded',
] as const;

/** One of {@link RESULT_CODES}. */
export type ResultCode = (typeof RESULT_CODES)[number];
