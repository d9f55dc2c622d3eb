/** Codes for results that could not be read. */
const UNREADABLE_CODES = [
  'RESULT_MISSING',
  'ONLY_ANCHORS',
  'RESULT_UNSAFE_FILE',
  'RESULT_TOO_LARGE',
  'RESULT_UNREADABLE',
  'RESULT_CHANGING',
  'RESULT_NOT_UTF8',
  'RESULT_NOT_JSON',
  'RESULT_NOT_OBJECT',
  'DUPLICATE_KEY',
  'HEADER_MALFORMED',
] as const;

/** Codes for problems with a result that was read. */
const INCOMPLETE_CODES = [
  'KEY_MISSING',
  'KEY_CONFLICT',
  'INVALID_VALUE',
  'CHANGES_MISSING',
  'TESTS_MISSING',
  'COMMIT_NOT_FOUND',
  'COMMIT_UNCHECKED',
  'COMMIT_NOT_PUSHED',
] as const;

const INCOMPLETE: ReadonlySet<string> = new Set(INCOMPLETE_CODES);

/** Whether the result could be read and only a key, a value or evidence is missing or invalid. */
export function isIncompleteCode(code: string): boolean {
  return INCOMPLETE.has(code);
}

/** Notices about how a result was read that do not affect the decision. */
const NOTICE_CODES = ['RESULT_OUTDATED', 'RESULT_SHADOWED', 'NOT_A_REPOSITORY'] as const;

/** All problem and hint codes. A closed list: `docs/errors.md` explains what to do about each. */
export const PROBLEM_CODES = [...UNREADABLE_CODES, ...INCOMPLETE_CODES, ...NOTICE_CODES] as const;
