/**
 * Whether a bound value is a text with a NUL. No name has one, and texts of people and agents are
 * bound as JSON; but SQLite would truncate the text there and match another name, and PostgreSQL refuses it.
 */
export function holdsNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Whether a statement only reads: then such a name matches nothing. */
export function isLookUp(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql);
}
