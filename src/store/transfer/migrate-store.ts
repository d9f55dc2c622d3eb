import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openSqliteSource, openSqliteTarget } from '../sqlite/transfer.js';
import { StoreError } from '../store-error.js';
import { PAGE_ROWS } from './side.js';
import type { Side, Source, Target } from './side.js';
import { isSameRow, matchTables, readKey } from './tables.js';
import type { TablePair, ValueRow } from './tables.js';

/** Progress callbacks and the abort signal of a migration. */
export interface MigrationOptions {
  /** Called after every page of rows. */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Stops after the current page; the next call continues there. */
  readonly signal?: AbortSignal;
}

/** A migration's progress: rows that are in the target and were compared with the source. */
export interface MigrationProgress {
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

/** The result of a complete migration: every row was read back from the target and compared with the source. */
export interface MigrationReport {
  /** The number of rows per table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly rows: number;
  /** The number of rows that this call copied; an interrupted call copied the others. */
  readonly copied: number;
}

/**
 * Copies a store from SQLite to PostgreSQL, or back, and compares every row. Nothing can write to the source during the
 * copy. After an interruption, even a kill, the same call continues; until the copy is complete, no process can open
 * the target. The source is not changed.
 *
 * @example
 * await migrateStore('sqlite:/srv/sluice/sluice.db', 'postgres://db.example.org/sluice') // { tables, rows, copied }
 */
export async function migrateStore(
  source: string,
  target: string,
  options: MigrationOptions = {},
): Promise<MigrationReport> {
  const [from, to] = [parseUrl(source), parseUrl(target)];
  if (from.kind === to.kind) {
    throw new StoreError(
      'MIGRATION_UNSUPPORTED',
      'Cannot migrate: one store must be on SQLite and the other on PostgreSQL. To copy a SQLite file use "sluice backup", for PostgreSQL pg_dump.',
    );
  }
  const origin = await describeOrigin(from);
  const work = async (reading: Source): Promise<MigrationReport> =>
    withTarget(to, async (writing) => transfer(reading, writing, origin, options));
  if (from.kind === 'sqlite') return openSqliteSource(from.location, work);
  const { openPostgresSource } = await import('../postgres/transfer.js');
  return openPostgresSource(from.location, work);
}

interface StoreLocation {
  readonly kind: 'sqlite' | 'postgres';
  /** The file, or the URL. */
  readonly location: string;
}

function parseUrl(url: string): StoreLocation {
  if (/^sqlite:./s.test(url)) return { kind: 'sqlite', location: resolve(url.slice('sqlite:'.length)) };
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: 'postgres', location: url };
  // The URL can contain a password, so the message omits it.
  throw new StoreError('INVALID_STORE_URL', 'Invalid store URL. Use sqlite:FILE or postgres://….');
}

/** Describes the source, without a password. The target stores this string until the migration is complete. */
async function describeOrigin({ kind, location }: StoreLocation): Promise<string> {
  if (kind === 'sqlite') return `sqlite:${await realpath(location).catch(() => location)}`;
  try {
    const { host, pathname } = new URL(location);
    return `postgres://${host}${pathname}`;
  } catch {
    throw new StoreError('INVALID_STORE_URL', 'Invalid store URL. Use postgres://USER:PASSWORD@HOST/NAME.');
  }
}

async function withTarget<T>({ kind, location }: StoreLocation, work: (target: Target) => Promise<T>): Promise<T> {
  if (kind === 'sqlite') return openSqliteTarget(location, work);
  const { openPostgresTarget } = await import('../postgres/transfer.js');
  return openPostgresTarget(location, work);
}

async function transfer(
  source: Source,
  target: Target,
  origin: string,
  { onProgress, signal }: MigrationOptions,
): Promise<MigrationReport> {
  const workers = await source.countWorkers();
  if (workers > 0) {
    throw new StoreError(
      'MIGRATION_IN_USE',
      `Cannot migrate: ${workers === 1 ? '1 worker uses' : `${workers} workers use`} the source. Stop all servers and workers, then run the migration again; a killed worker is counted for up to a minute.`,
    );
  }
  const state = await target.inspect();
  if (typeof state === 'object' && state.origin !== origin)
    throw createFilledError(`it contains an unfinished copy of "${state.origin}"`);
  if (state === 'absent' || state === 'empty') await target.begin(origin);
  const pairs = matchTables(await source.listTables(), await target.listTables());
  if (pairs === undefined) throw createFilledError('its tables belong to another version of Sluice');
  const totals = new Map<string, number>();
  for (const { source: table } of pairs) totals.set(table.name, await source.count(table));

  const copyAll = async (mayCopy: boolean): Promise<MigrationReport | undefined> => {
    let copied = 0;
    for (const pair of pairs) {
      const { name } = pair.source;
      const total = totals.get(name) ?? 0;
      let rows = 0;
      for await (const page of copyTable(source, target, pair, mayCopy)) {
        if (page === 'differs') return undefined;
        rows += page.rows;
        copied += page.copied;
        onProgress?.({ table: name, rows, total });
        signal?.throwIfAborted();
      }
    }
    const tables = Object.fromEntries(totals);
    return { tables, rows: [...totals.values()].reduce((sum, rows) => sum + rows, 0), copied };
  };

  if (state === 'filled') {
    // The target is already complete if it has exactly these rows.
    const report = await copyAll(false);
    if (report === undefined) throw createFilledError('it contains other data');
    return report;
  }
  let report = await copyAll(true);
  if (report === undefined) {
    // The source has changed since the copy was interrupted, so the copy starts over.
    await target.clear(pairs.map((pair) => pair.target));
    report = await copyAll(true);
  }
  if (report === undefined) {
    throw new StoreError(
      'MIGRATION_FAILED',
      'Cannot migrate: rows read back from the target differ from the source. The target stays incomplete, the source is unchanged; check the disk of the target, then run the migration again.',
    );
  }
  await target.finish();
  return report;
}

function createFilledError(why: string): StoreError {
  return new StoreError(
    'MIGRATION_TARGET_FILLED',
    `Cannot migrate into this target: ${why}. It was left unchanged; use an empty database or a new file.`,
  );
}

/**
 * Copies a table's rows page by page; rows that the target already has are only compared. Returns `differs` if the
 * target has a different or an additional row.
 */
async function* copyTable(
  source: Side,
  target: Target,
  pair: TablePair,
  mayCopy: boolean,
): AsyncGenerator<{ readonly rows: number; readonly copied: number } | 'differs'> {
  let after: ValueRow | undefined;
  for (;;) {
    const page = await source.readPage(pair.source, after);
    const last = page.at(-1);
    if (last === undefined) break;
    const until = readKey(pair.source, last);
    const stored = await readRange(target, pair, after, until, page.length);
    const missing = page.slice(stored.length);
    if (stored.some((row, index) => !isSameRow(row, page[index])) || (missing.length > 0 && !mayCopy)) {
      yield 'differs';
      return;
    }
    if (missing.length > 0) {
      await target.insert(pair.target, missing);
      const copied = await readRange(target, pair, after, until, page.length);
      if (copied.length !== page.length || copied.some((row, index) => !isSameRow(row, page[index]))) {
        yield 'differs';
        return;
      }
    }
    yield { rows: page.length, copied: missing.length };
    after = until;
  }
  if ((await target.readPage(pair.target, after)).length > 0) yield 'differs';
}

/** Reads the rows between two keys, page by page; stops after more than `count` rows. */
async function readRange(
  target: Target,
  { target: table }: TablePair,
  after: ValueRow | undefined,
  until: ValueRow,
  count: number,
): Promise<readonly ValueRow[]> {
  const rows: ValueRow[] = [];
  for (let from = after; rows.length <= Math.min(count, PAGE_ROWS);) {
    const page = await target.readPage(table, from, until);
    const last = page.at(-1);
    if (last === undefined) break;
    rows.push(...page);
    from = readKey(table, last);
  }
  return rows;
}
