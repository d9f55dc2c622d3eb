import type { Path } from './repair.js';

/** Every warning a result may carry. A closed list: `docs/errors.md` explains each one. */
export const WARNING_CODES = [
  'OUTPUT_REPAIRED_GENERIC',
  'OUTPUT_ALIGNED_TO_SCHEMA',
  'OUTPUT_DEGRADED_TO_COMMENT',
  'AMBIGUOUS_CANDIDATES',
  'DUPLICATE_KEY',
  'PARTIAL_VALUE',
] as const;

/** One of {@link WARNING_CODES}. */
export type WarningCode = (typeof WARNING_CODES)[number];

/** Something the caller should know about a result that is otherwise fine. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  readonly offset?: number;
  readonly path?: Path;
}
