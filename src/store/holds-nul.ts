/**
 * Whether a value that is bound to a statement is a text with a NUL. No name has one, and what people or agents wrote is
 * bound as JSON; but SQLite would cut the text off there and find somebody else's name, and PostgreSQL refuses it.
 */
export function holdsNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Whether a statement only looks something up: then nothing is what it finds under such a name. */
export function isLookUp(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql);
}
