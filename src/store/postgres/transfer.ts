import { createColumnError } from '../store-error.js';
import { PAGE_BYTES, PAGE_ROWS, PRIVATE_TABLES, TRANSFER_SCHEMA_VERSION } from '../transfer/side.js';
import type { Side, Source, Target, TargetState } from '../transfer/side.js';
import type { Column, LocalTable, Table, Value, ValueRow } from '../transfer/tables.js';
import { openDatabase } from './database.js';
import type { Database } from './database.js';
import type { Queryable, Row } from './driver.js';
import { migrate } from './migrate.js';
import { readColumns } from './rows.js';

/** The common names of columns whose local name differs. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  owner_host: 'host',
  owner_pid: 'pid',
  owner_pid_started: 'pid_started',
};

/** Opens a database to copy from; writers in other processes wait until it is closed. */
export async function openPostgresSource<T>(url: string, work: (source: Source) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, { connections: 2 });
  try {
    await migrate(database);
    return await transactWithoutTimeouts(database, async (transaction) => {
      const tables = await listNames(transaction);
      await transaction.query(
        `LOCK TABLE ${tables.map((name) => `sluice.${name}`).join(', ')} IN SHARE ROW EXCLUSIVE MODE`,
      );
      return work({
        ...createSide(transaction),
        async countWorkers() {
          const { rows } = await transaction.query(
            `SELECT count(*) AS found FROM sluice.workers WHERE alive_until > extract(epoch FROM clock_timestamp()) * 1000`,
          );
          return readColumns(rows[0] ?? {}).number('found');
        },
      });
    });
  } finally {
    await database.close();
  }
}

/** Opens a database to copy to. */
export async function openPostgresTarget<T>(url: string, work: (target: Target) => Promise<T>): Promise<T> {
  const database = await openDatabase(url, { connections: 2 });
  try {
    return await work(createTarget(database));
  } finally {
    await database.close();
  }
}

/** Runs a transaction without timeouts: copying is bounded by pages, not by time. */
async function transactWithoutTimeouts<T>(
  database: Database,
  work: (transaction: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(
    async (transaction) => {
      await transaction.query(`SET LOCAL statement_timeout = 0`);
      await transaction.query(`SET LOCAL idle_in_transaction_session_timeout = 0`);
      return work(transaction);
    },
    { isLong: true },
  );
}

function createSide(queryable: Queryable): Side {
  return {
    listTables: async () => listTables(queryable),
    async count({ name }) {
      const { rows } = await queryable.query(`SELECT count(*) AS rows FROM sluice.${name}`);
      return readColumns(rows[0] ?? {}).number('rows');
    },
    readPage: async (table, after, until) => readPage(queryable, table, after, until),
  };
}

async function listNames(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice' ORDER BY tablename COLLATE "C"`,
  );
  return rows.map((row) => readColumns(row).text('name')).filter((name) => !PRIVATE_TABLES.includes(name));
}

async function listTables(queryable: Queryable): Promise<readonly LocalTable[]> {
  const { rows: columns } = await queryable.query(
    `SELECT table_name AS table, column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'sluice' ORDER BY ordinal_position`,
  );
  const { rows: keys } = await queryable.query(
    `SELECT relname AS table, attname AS name FROM pg_index
     JOIN pg_class ON pg_class.oid = indrelid
     JOIN unnest(indkey) WITH ORDINALITY AS part (number, place) ON true
     JOIN pg_attribute ON attrelid = indrelid AND attnum = part.number
     WHERE indisprimary AND relnamespace = 'sluice'::regnamespace ORDER BY place`,
  );
  const { rows: references } = await queryable.query(
    `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS name FROM pg_constraint
     WHERE contype = 'f' AND connamespace = 'sluice'::regnamespace`,
  );
  return (await listNames(queryable)).map((name) => {
    const tableColumns = filterByTable(columns, name).map(readColumn);
    // Tables with a sequence are copied in insertion order.
    const key = tableColumns.some((column) => column.name === 'seq')
      ? ['seq']
      : filterByTable(keys, name).map((row) => readCommonName(row));
    return {
      name,
      columns: tableColumns,
      key,
      references: filterByTable(references, name).map((row) => String(row['name']).replace(/^sluice\./, '')),
    };
  });
}

function filterByTable(rows: readonly Row[], table: string): Row[] {
  return rows.filter((row) => String(row['table']).replace(/^sluice\./, '') === table);
}

function readColumn(row: Row): Column {
  const { text } = readColumns(row);
  return { name: readCommonName(row), local: text('name'), type: text('type') };
}

function readCommonName(row: Row): string {
  const local = readColumns(row).text('name');
  return COMMON_NAMES[local] ?? local;
}

async function readPage(
  queryable: Queryable,
  { name, columns, keyIndexes }: Table,
  after: ValueRow | undefined,
  until: ValueRow | undefined,
): Promise<readonly ValueRow[]> {
  const parts = keyIndexes.map((index) => columns[index]);
  // In byte order, regardless of the database's collation.
  const key = parts.map((column) => `${column?.local}${column?.type === 'text' ? ' COLLATE "C"' : ''}`).join(', ');
  const placeholders = (first: number): string =>
    parts.map((column, index) => `$${first + index}::${column?.type ?? 'text'}`).join(', ');
  const bounds = [
    after === undefined ? '' : `(${key}) > (${placeholders(1)})`,
    until === undefined ? '' : `(${key}) <= (${placeholders(1 + (after?.length ?? 0))})`,
  ].filter(Boolean);
  const names = columns.map(({ local }) => local).join(', ');
  const size = columns
    .filter(({ type }) => type === 'text' || type === 'bytea')
    .map(({ local }) => `coalesce(octet_length(${local}), 0)`);
  const { rows } = await queryable.query(
    `SELECT ${names} FROM (
       SELECT *, sum(size) OVER (ORDER BY ${key} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM (
         SELECT ${names}, ${[...size, '0'].join(' + ')} AS size FROM sluice.${name}
         ${bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`} ORDER BY ${key} LIMIT ${PAGE_ROWS}
       ) AS sized
     ) AS page WHERE coalesce(before, 0) < ${PAGE_BYTES} ORDER BY ${key}`,
    [...(after ?? []), ...(until ?? [])],
  );
  return rows.map((row) => columns.map((column) => readValue(row, column)));
}

function readValue(row: Row, { local, type }: Column): Value {
  const value = row[local];
  if (value === null) return null;
  if (type === 'boolean') return value === true ? 1 : 0;
  if (type === 'bigint') return readColumns(row).number(local);
  if (typeof value === 'string' || typeof value === 'number' || Buffer.isBuffer(value)) return value;
  throw createColumnError(local);
}

function createTarget(database: Database): Target {
  const transact = async (work: (transaction: Queryable) => Promise<void>): Promise<void> =>
    transactWithoutTimeouts(database, async (transaction) => {
      await transaction.query(`SET LOCAL sluice.form = ${TRANSFER_SCHEMA_VERSION}`);
      await work(transaction);
    });
  return {
    ...createSide(database),
    inspect: async () => inspect(database),
    async begin(origin) {
      await migrate(database);
      await transact(async (transaction) => {
        await transaction.query(`INSERT INTO sluice.migrations (version) VALUES (${TRANSFER_SCHEMA_VERSION})`);
        await transaction.query(`CREATE TABLE sluice.transfer (origin text NOT NULL)`);
        await transaction.query(`INSERT INTO sluice.transfer (origin) VALUES ($1)`, [origin]);
      });
    },
    insert: async (table, rows) => transact(async (transaction) => insert(transaction, table, rows)),
    clear: async (tables) =>
      transact(async (transaction) => {
        for (const { name } of tables.toReversed()) await transaction.query(`DELETE FROM sluice.${name}`);
      }),
    finish: async () => transact(finish),
  };
}

async function inspect(database: Database): Promise<TargetState> {
  const { rows: found } = await database.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice'`);
  if (found.length === 0) return 'absent';
  if (found.some(({ name }) => name === 'transfer')) {
    const { rows } = await database.query(`SELECT origin FROM sluice.transfer`);
    return { origin: readColumns(rows[0] ?? {}).text('origin') };
  }
  for (const name of await listNames(database)) {
    const { rows } = await database.query(`SELECT 1 AS found FROM sluice.${name} LIMIT 1`);
    if (rows.length > 0) return 'filled';
  }
  return 'empty';
}

/**
 * Inserts one array per column. The bytes of all rows are one parameter, because the driver would escape each byte of
 * an array.
 */
async function insert(transaction: Queryable, { name, columns }: Table, rows: readonly ValueRow[]): Promise<void> {
  const values: unknown[] = [];
  const add = (value: unknown, type: string): string => `$${values.push(value)}::${type}`;
  const lists: string[] = [];
  const selected = columns.map(({ type }, index) => {
    const column = rows.map((row) => row[index] ?? null);
    const alias = `c${index}`;
    if (type !== 'bytea') {
      lists.push(`${add(type === 'boolean' ? column.map(toFlag) : column, `${type}[]`)} AS ${alias}`);
      return alias;
    }
    const bodies = column.map((value) => (value instanceof Uint8Array ? value : null));
    let offset = 1;
    const starts = bodies.map((body) => (offset += body?.length ?? 0) - (body?.length ?? 0));
    lists.push(`${add(starts, 'integer[]')} AS s${index}`);
    lists.push(
      `${add(
        bodies.map((body) => body?.length ?? null),
        'integer[]',
      )} AS l${index}`,
    );
    const all = add(Buffer.concat(bodies.map((body) => body ?? new Uint8Array())), 'bytea');
    return `substring(${all} FROM s${index} FOR l${index})`;
  });
  const names = lists.map((list) => list.replace(/^.* AS /, ''));
  const arrays = lists.map((list) => list.replace(/ AS .*$/, ''));
  await transaction.query(
    `INSERT INTO sluice.${name} (${columns.map(({ local }) => local).join(', ')}) OVERRIDING SYSTEM VALUE
     SELECT ${selected.join(', ')} FROM unnest(${arrays.join(', ')}) AS rows (${names.join(', ')})`,
    values,
  );
}

function toFlag(value: Value): boolean | null {
  return value === null ? null : value === 1;
}

async function finish(transaction: Queryable): Promise<void> {
  await transaction.query(
    `UPDATE sluice.issues SET active_settled = EXISTS (
       SELECT FROM sluice.orders
       WHERE orders.issue_ref = issues.issue_ref AND orders.run_id = issues.active_run_id AND decision IS NOT NULL)`,
  );
  const { rows } = await transaction.query(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'sluice' AND is_identity = 'YES'`,
  );
  for (const row of rows) {
    const { text } = readColumns(row);
    const [table, column] = [text('table'), text('column')];
    await transaction.query(
      `SELECT setval(pg_get_serial_sequence('sluice.${table}', '${column}'), greatest(max(${column}), 1), max(${column}) IS NOT NULL)
       FROM sluice.${table}`,
    );
  }
  await transaction.query(`DROP TABLE sluice.transfer`);
  await transaction.query(`DELETE FROM sluice.migrations WHERE version = ${TRANSFER_SCHEMA_VERSION}`);
}
