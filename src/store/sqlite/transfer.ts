import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../files/index.js';
import { createColumnError, StoreError } from '../store-error.js';
import { PAGE_BYTES, PAGE_ROWS, PRIVATE_TABLES, TRANSFER_SCHEMA_VERSION } from '../transfer/side.js';
import type { Side, Source, Target, TargetState } from '../transfer/side.js';
import type { Column, LocalTable, Table, Value, ValueRow } from '../transfer/tables.js';
import { toStoreError } from './database-error.js';
import type { Connection, SqlRow } from './driver.js';
import { checkOwner, migrate } from './migrate.js';
import { MIGRATIONS } from './migrations.js';
import { readInteger, readText } from './rows.js';

/** How long to wait for another process's lock. */
const TIMEOUT_MS = 30_000;

/** The common names of columns whose local name differs. */
const COMMON_NAMES: Readonly<Record<string, string>> = { sequence: 'seq', trigger_key: 'trigger' };

/** Opens a file to copy from; writers in other processes wait until it is closed. */
export async function openSqliteSource<T>(file: string, work: (source: Source) => Promise<T>): Promise<T> {
  if (!existsSync(file)) {
    throw new StoreError('STORE_UNAVAILABLE', `Cannot find the database "${file}". Specify an existing database file.`);
  }
  return withConnection(file, async (connection) => {
    migrate(connection, file);
    connection.exec('BEGIN IMMEDIATE');
    return work({
      ...createSide(connection, file),
      async countWorkers() {
        const found = connection.prepare('SELECT count(*) AS found FROM workers WHERE alive_until > ?').get(Date.now());
        return readInteger(found ?? {}, 'found');
      },
    });
  });
}

/** Opens a file to copy to, and creates it if missing. */
export async function openSqliteTarget<T>(file: string, work: (target: Target) => Promise<T>): Promise<T> {
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw toStoreError(error, file);
  });
  return withConnection(file, async (connection) => work(createTarget(connection, file)));
}

async function withConnection<T>(file: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  let connection: Connection | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600));
    connection = new DatabaseSync(file, { timeout: TIMEOUT_MS, enableForeignKeyConstraints: true });
    checkOwner(connection, file);
    connection.exec('PRAGMA journal_mode = WAL');
    connection.exec('PRAGMA synchronous = FULL');
    return await work(connection);
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    // Statements that are not garbage-collected yet would keep the transaction and its lock open after the connection
    // is closed.
    if (connection?.isTransaction === true) connection.exec('ROLLBACK');
    connection?.close();
  }
}

function createSide(connection: Connection, file: string): Side {
  const guard = async <R>(read: () => R): Promise<R> => {
    try {
      return read();
    } catch (error) {
      throw toStoreError(error, file);
    }
  };
  return {
    listTables: async () => guard(() => listTables(connection)),
    count: async ({ name }) =>
      guard(() => readInteger(connection.prepare(`SELECT count(*) AS rows FROM ${name}`).get() ?? {}, 'rows')),
    readPage: async (table, after, until) => guard(() => readPage(connection, table, after, until)),
  };
}

function listTables(connection: Connection): readonly LocalTable[] {
  return listNames(connection).map((name) => {
    const columns = connection.prepare(`PRAGMA table_info(${name})`).all().map(readColumn);
    const references = connection.prepare(`PRAGMA foreign_key_list(${name})`).all();
    return { name, columns, key: [], references: references.map((row) => readText(row, 'table')) };
  });
}

function listNames(connection: Connection): readonly string[] {
  const rows = connection
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
    .all();
  return rows.map((row) => readText(row, 'name')).filter((name) => !PRIVATE_TABLES.includes(name));
}

function readColumn(row: SqlRow): Column {
  const local = readText(row, 'name');
  return { name: COMMON_NAMES[local] ?? local, local, type: readText(row, 'type') };
}

/** Reads a page of rows. Their sizes are read first, because a page of large rows might not fit into memory. */
function readPage(
  connection: Connection,
  table: Table,
  after: ValueRow | undefined,
  until: ValueRow | undefined,
): readonly ValueRow[] {
  const { name, columns, keyIndexes } = table;
  const key = keyIndexes.map((index) => columns[index]?.local ?? '').join(', ');
  const placeholders = keyIndexes.map(() => '?').join(', ');
  const from = after === undefined ? '' : `(${key}) > (${placeholders})`;
  const size = columns.map(({ local }) => `coalesce(length(${local}), 0)`).join(' + ');
  const bounds = [from, until === undefined ? '' : `(${key}) <= (${placeholders})`].filter(Boolean);
  const sizes = connection
    .prepare(
      `SELECT ${size} AS size FROM ${name} ${bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`}
       ORDER BY ${key} LIMIT ${PAGE_ROWS}`,
    )
    .all(...(after ?? []), ...(until ?? []));
  let [bytes, rows] = [0, 0];
  for (const row of sizes) {
    rows += 1;
    bytes += readInteger(row, 'size');
    if (bytes >= PAGE_BYTES) break;
  }
  if (rows === 0) return [];
  const found = connection
    .prepare(
      `SELECT ${columns.map(({ local }) => local).join(', ')} FROM ${name} ${from === '' ? '' : `WHERE ${from}`}
       ORDER BY ${key} LIMIT ${rows}`,
    )
    .all(...(after ?? []));
  return found.map((row) => columns.map(({ local }) => readValue(row[local], local)));
}

function readValue(value: unknown, column: string): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return value;
  throw createColumnError(column);
}

function createTarget(connection: Connection, file: string): Target {
  const transact = (work: () => void): void => {
    connection.exec('BEGIN IMMEDIATE');
    try {
      work();
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw toStoreError(error, file);
    }
  };
  return {
    ...createSide(connection, file),
    inspect: async () => inspect(connection),
    async begin(origin) {
      migrate(connection, file);
      transact(() => {
        connection.exec('CREATE TABLE transfer (origin TEXT NOT NULL) STRICT');
        connection.prepare('INSERT INTO transfer (origin) VALUES (?)').run(origin);
        connection.exec(`PRAGMA user_version = ${TRANSFER_SCHEMA_VERSION}`);
      });
    },
    async insert({ name, columns }, rows) {
      const names = columns.map(({ local }) => local);
      const statement = connection.prepare(
        `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      );
      transact(() => {
        for (const row of rows) statement.run(...row);
      });
    },
    async clear(tables) {
      transact(() => {
        for (const { name } of tables.toReversed()) connection.exec(`DELETE FROM ${name}`);
      });
    },
    async finish() {
      transact(() => {
        connection.exec('DROP TABLE transfer');
        connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
      });
    },
  };
}

function inspect(connection: Connection): TargetState {
  const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  if (tables.length === 0) return 'absent';
  if (tables.some(({ name }) => name === 'transfer')) {
    return { origin: readText(connection.prepare('SELECT origin FROM transfer').get() ?? {}, 'origin') };
  }
  const hasRows = listNames(connection).some(
    (name) => connection.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get() !== undefined,
  );
  return hasRows ? 'filled' : 'empty';
}
