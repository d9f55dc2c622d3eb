import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getErrorCode, SluiceError } from '../base/index.js';
import type { Row, Session, Value, MigrationSide } from './driver.js';
import { readNumber, readText } from './rows.js';
import { SCHEMA_STEPS, STORED_TABLES, type StoredTable } from './sql/schema.js';
import { openDatabase } from './sqlite/database.js';
import { StoreError, TRANSFER_SCHEMA_VERSION } from './store-error.js';

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

/** A trigger of the target parks copied runs. */
const UNCOPIED_COLUMN = 'parked_on';

/** Rows are read in pages of at most this many rows and about this many characters; a single row can be larger. */
const PAGE_ROWS = 1000;
const PAGE_CHARACTERS = 8 * 1024 * 1024;
/** The maximum number of values of one insert. */
const MAX_VALUES = 8000;

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
      'COPY_UNSUPPORTED',
      'Cannot migrate: one store must be on SQLite and the other on PostgreSQL. To copy a SQLite file use "sluice backup", for PostgreSQL pg_dump.',
    );
  }
  const origin = await describeOrigin(from);
  return withSide(from, SCHEMA_STEPS.length, async (reading) =>
    reading.freeze(async (session) => {
      await refuseWorkers(session, reading.now());
      const isComplete = await prepareTarget(to, origin);
      return withSide(
        to,
        isComplete ? SCHEMA_STEPS.length : TRANSFER_SCHEMA_VERSION,
        async ({ database, setVersion }) => {
          const copy = async (mayCopy: boolean): Promise<MigrationReport | undefined> =>
            copyTables(session, database, { ...options, mayCopy });
          // A complete target must have exactly these rows.
          let report = await copy(!isComplete);
          if (isComplete && report === undefined) throw createFilledError('it contains other data');
          if (report === undefined) {
            // The source has changed since the copy was interrupted, so the copy starts over.
            for (const { name } of STORED_TABLES.toReversed()) await database.run(`DELETE FROM ${name}`);
            report = await copy(true);
          }
          if (report === undefined) {
            throw new StoreError(
              'MIGRATION_FAILED',
              'Cannot migrate: rows read back from the target differ from the source. The target stays incomplete, the source is unchanged; check the disk of the target, then run the migration again.',
            );
          }
          if (!isComplete) {
            await database.transaction(async (writing) => {
              await writing.run('DROP TABLE transfer');
              await setVersion(writing, SCHEMA_STEPS.length);
            });
          }
          return report;
        },
      );
    }),
  );
}

interface StoreLocation {
  readonly kind: 'sqlite' | 'postgres';
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
  if (kind === 'postgres') {
    try {
      const { host, pathname } = new URL(location);
      return `postgres://${host}${pathname}`;
    } catch {
      throw new StoreError('INVALID_STORE_URL', 'Invalid store URL. Use postgres://USER:PASSWORD@HOST/NAME.');
    }
  }
  if (existsSync(location)) return `sqlite:${await realpath(location)}`;
  throw new StoreError(
    'STORE_UNAVAILABLE',
    `Cannot find the database "${location}". Specify an existing database file.`,
  );
}

/** Opens a store that has this schema version; creates its tables if they are missing. */
async function withSide<T>(
  { kind, location }: StoreLocation,
  schemaVersion: number,
  work: (side: MigrationSide) => Promise<T>,
): Promise<T> {
  if (kind === 'postgres') {
    const { withPostgresSide } = await import('./postgres/migrate.js');
    return withPostgresSide(location, schemaVersion, work);
  }
  const database = await openDatabase(location, schemaVersion === SCHEMA_STEPS.length ? {} : { schemaVersion });
  try {
    return await work({
      database,
      now: Date.now,
      freeze: async (read) => database.transaction(read),
      setVersion: async (session, version) => void (await session.run(`PRAGMA user_version = ${version}`)),
    });
  } finally {
    database.close();
  }
}

async function refuseWorkers(session: Session, now: number): Promise<void> {
  const row = await session.get('SELECT count(*) AS workers FROM workers WHERE alive_until > $1', [now]);
  const workers = readNumber(row ?? {}, 'workers');
  if (workers === 0) return;
  throw new StoreError(
    'MIGRATION_IN_USE',
    `Cannot migrate: ${workers === 1 ? '1 worker uses' : `${workers} workers use`} the source. Stop all servers and workers, then run the migration again; a killed worker is counted for up to a minute.`,
  );
}

/** Marks an empty target as incomplete; returns whether it is a complete store, which might be the copy. */
async function prepareTarget(to: StoreLocation, origin: string): Promise<boolean> {
  try {
    return await withSide(to, SCHEMA_STEPS.length, async ({ database, setVersion }) => {
      for (const { name } of STORED_TABLES) {
        if ((await database.get(`SELECT 1 AS found FROM ${name} LIMIT 1`)) !== undefined) return true;
      }
      await database.transaction(async (session) => {
        await session.run('CREATE TABLE transfer (origin TEXT NOT NULL)');
        await session.run('INSERT INTO transfer (origin) VALUES ($1)', [origin]);
        await setVersion(session, TRANSFER_SCHEMA_VERSION);
      });
      return false;
    });
  } catch (error) {
    if (getErrorCode(error) !== 'STORE_INCOMPLETE') throw error;
  }
  const known = await withSide(to, TRANSFER_SCHEMA_VERSION, async ({ database }) =>
    database.get('SELECT origin FROM transfer'),
  );
  const started = readText(known ?? {}, 'origin');
  if (started !== origin) throw createFilledError(`it contains an unfinished copy of "${started}"`);
  return false;
}

function createFilledError(why: string): SluiceError {
  return new SluiceError(
    'TARGET_EXISTS',
    `Cannot migrate into this target: ${why}. It was left unchanged; use an empty database or a new file.`,
  );
}

/** Copies all tables; undefined if the target has a different or an additional row. */
async function copyTables(
  source: Session,
  target: Session,
  { onProgress, signal, mayCopy }: MigrationOptions & { readonly mayCopy: boolean },
): Promise<MigrationReport | undefined> {
  const tables: Record<string, number> = {};
  let [rows, copied] = [0, 0];
  for (const table of STORED_TABLES) {
    const { name } = table;
    const total = readNumber((await source.get(`SELECT count(*) AS rows FROM ${name}`)) ?? {}, 'rows');
    tables[name] = 0;
    for (let after: Key; ;) {
      const page = await readPage(source, table, after);
      const last = page.at(-1);
      if (last === undefined) break;
      const readTarget = async (): Promise<readonly Row[]> => select(target, '*', table, after, page.length);
      const stored = await readTarget();
      const missing = page.slice(stored.length);
      if (!areSame(stored, page.slice(0, stored.length)) || (missing.length > 0 && !mayCopy)) return undefined;
      await insert(target, name, missing);
      if (missing.length > 0 && !areSame(await readTarget(), page)) return undefined;
      tables[name] += page.length;
      copied += missing.length;
      after = readValues(last, table.key);
      onProgress?.({ table: name, rows: tables[name] ?? 0, total });
      signal?.throwIfAborted();
    }
    rows += total;
    const extra = readNumber((await target.get(`SELECT count(*) AS rows FROM ${name}`)) ?? {}, 'rows') - total;
    if (extra !== 0) return undefined;
  }
  return { tables, rows, copied };
}

/** Reads a page of rows. Their sizes are read first, because a page of large rows might not fit into memory. */
async function readPage(session: Session, table: StoredTable, after: Key): Promise<readonly Row[]> {
  const size = ['0', ...table.large.map((column) => `coalesce(length(${column}), 0)`)].join(' + ');
  let [characters, rows] = [0, 0];
  for (const row of await select(session, `${size} AS size`, table, after, PAGE_ROWS)) {
    rows += 1;
    characters += readNumber(row, 'size');
    if (characters >= PAGE_CHARACTERS) break;
  }
  return rows === 0 ? [] : select(session, '*', table, after, rows);
}

/** The key of a row; undefined before the first. */
type Key = readonly Value[] | undefined;

/** Selects rows after a key, in the order of their keys, which is the same in both databases. */
async function select(
  session: Session,
  columns: string,
  { name, key }: StoredTable,
  after: Key,
  limit: number,
): Promise<readonly Row[]> {
  const places = key.map((_, index) => `$${index + 2}`).join();
  const where = after === undefined ? '' : `WHERE (${key.join()}) > (${places})`;
  return session.all(`SELECT ${columns} FROM ${name} ${where} ORDER BY ${key.join()} LIMIT $1`, [
    limit,
    ...(after ?? []),
  ]);
}

/** Reads values of a row; both databases accept a number as text. */
const readValues = (row: Row, columns: readonly string[]): readonly Value[] =>
  columns.map((column) => row[column] as Value);

async function insert(session: Session, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first).filter((column) => column !== UNCOPIED_COLUMN);
  const count = Math.max(1, Math.floor(MAX_VALUES / columns.length));
  for (let start = 0; start < rows.length; start += count) {
    const values = rows.slice(start, start + count).flatMap((row) => readValues(row, columns));
    const places = Array.from({ length: values.length / columns.length }, (_, row) =>
      columns.map((_column, index) => `$${row * columns.length + index + 1}`).join(),
    );
    await session.run(`INSERT INTO ${table} (${columns.join()}) VALUES (${places.join('), (')})`, values);
  }
}

/** Whether rows are equal, byte by byte. */
function areSame(some: readonly Row[], others: readonly Row[]): boolean {
  return some.length === others.length && some.every((row, index) => isSameRow(row, others[index] ?? {}));
}

function isSameRow(one: Row, other: Row): boolean {
  return Object.keys(one).every((column) => column === UNCOPIED_COLUMN || isSameValue(one[column], other[column]));
}

function isSameValue(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  if (one === other) return true;
  // The PostgreSQL driver returns a bigint as text.
  return typeof one !== typeof other && one !== null && other !== null && Number(one) === Number(other);
}
