/**
 * Whether a bound value is a string with a NUL character. Valid names contain none, and text from users and agents is
 * bound as JSON. SQLite would truncate the string there and match another name; PostgreSQL would reject it.
 */
export function containsNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Whether a statement only reads, in which case a name with a NUL character matches nothing. */
export function isReadOnly(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql);
}
