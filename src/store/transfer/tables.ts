/** A row value in a representation that all databases share: flags are 0 and 1. */
export type Value = string | number | Uint8Array | null;
export type ValueRow = readonly Value[];

/** A column, identified by its common name in all databases. */
export interface Column {
  readonly name: string;
  /** Name and type in this side's database. */
  readonly local: string;
  readonly type: string;
}

/** A table of one side. */
export interface LocalTable {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns that order its rows; empty if unknown on this side. */
  readonly key: readonly string[];
  /** Tables whose rows must be copied first. */
  readonly references: readonly string[];
}

/** A table as both sides have it, with the same column order. */
export interface Table extends LocalTable {
  /** Indexes of the key columns in a row. */
  readonly keyIndexes: readonly number[];
}

/** The same table on both sides. */
export interface TablePair {
  readonly source: Table;
  readonly target: Table;
}

/** Columns that only one side has, which are derived from others and computed after everything is copied. */
const DERIVED = new Set(['issues.active_settled', 'runs.parked']);

/**
 * Matches the tables of both sides, referenced tables first; undefined if only one side has a table or column, which
 * would be lost.
 */
export function matchTables(
  source: readonly LocalTable[],
  target: readonly LocalTable[],
): readonly TablePair[] | undefined {
  const [from, to] = [withoutDerived(source), withoutDerived(target)];
  const [left, right] = [listColumns(from), listColumns(to)];
  if (left.toSorted().join() !== right.toSorted().join()) return undefined;
  const pairs = from.map((table): TablePair => {
    const other = to.find(({ name }) => name === table.name) ?? table;
    const key = table.key.length > 0 ? table.key : other.key;
    const names = table.columns.map(({ name }) => name);
    return { source: orderColumns(table, names, key), target: orderColumns(other, names, key) };
  });
  return orderByReferences(pairs);
}

function withoutDerived(tables: readonly LocalTable[]): readonly LocalTable[] {
  return tables.map((table) => ({
    ...table,
    columns: table.columns.filter(({ name }) => !DERIVED.has(`${table.name}.${name}`)),
  }));
}

function listColumns(tables: readonly LocalTable[]): readonly string[] {
  return tables.flatMap((table) => table.columns.map(({ name }) => `${table.name}.${name}`));
}

function orderColumns(table: LocalTable, names: readonly string[], key: readonly string[]): Table {
  const columns = names.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  return { ...table, columns, key, keyIndexes: key.map((name) => names.indexOf(name)) };
}

function orderByReferences(pairs: readonly TablePair[]): readonly TablePair[] {
  const ordered: TablePair[] = [];
  const visit = (pair: TablePair): void => {
    if (ordered.includes(pair)) return;
    const references = [...pair.source.references, ...pair.target.references].filter(
      (name) => name !== pair.source.name,
    );
    for (const referenced of pairs.filter(({ source }) => references.includes(source.name))) visit(referenced);
    ordered.push(pair);
  };
  for (const pair of pairs) visit(pair);
  return ordered;
}

/** Returns a row's key values. */
export function readKey({ keyIndexes }: Table, row: ValueRow): ValueRow {
  return keyIndexes.map((index) => row[index] ?? null);
}

/** Whether two rows are equal, byte by byte. */
export function isSameRow(one: ValueRow | undefined, other: ValueRow | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((value, index) => isSameValue(value, other[index] ?? null));
}

function isSameValue(one: Value, other: Value): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return one === other;
}
