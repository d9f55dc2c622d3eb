/** The fields each type of record may have; a hostile type like `constructor` finds nothing. */
export type FieldTable = Readonly<Record<string, ReadonlySet<string>>>;

/**
 * Makes a table of the fields each type of record may have, besides those that all have.
 *
 * @example
 * fieldTable(['type'], { error: ['message'] })['error'] // Set { 'type', 'message' }
 */
export function fieldTable(common: readonly string[], table: Readonly<Record<string, readonly string[]>>): FieldTable {
  const fields: Record<string, ReadonlySet<string>> = Object.create(null) as Record<string, ReadonlySet<string>>;
  for (const [type, own] of Object.entries(table)) fields[type] = new Set([...common, ...own]);
  return fields;
}
