/**
 * Whether a bound value is a string with a NUL character. No valid name contains one, and text from people and agents is bound
 * as JSON. SQLite would truncate the string there and match another name; PostgreSQL would refuse it.
 */
export function containsNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Whether a statement only reads. A name with a NUL character then simply matches nothing. */
export function isReadOnly(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql);
}
