import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/postgres/eventually.js';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { catchCode } from '../contract/fixtures/open-site.js';
import type { DatabaseOptions, PostgresDatabase } from './database.js';
import { openPlain } from './fixtures/open-plain.js';

async function openFreshDatabase(options?: DatabaseOptions): Promise<PostgresDatabase> {
  return openPlain(await createDatabase(), options);
}

/** Terminates all other connections to the database, as a server restart or a network failure would. */
async function terminateConnections(database: PostgresDatabase): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

describe('a database', () => {
  it('reports an unreachable server without the password', async () => {
    const database = await openPlain('postgres://someone:secret@127.0.0.1:1/nothing', { connectTimeoutMs: 2000 });
    const query = database.query('SELECT 1');
    await expect(query).rejects.toThrow(/Cannot use PostgreSQL at "127\.0\.0\.1:1\/nothing"/);
    await expect(query).rejects.not.toThrow(/secret/);
    expect(await catchCode(query)).toBe('STORE_UNAVAILABLE');
  });

  it('reports an unknown database and a wrong password', async () => {
    const url = new URL(await createDatabase());
    url.pathname = '/no_such_database';
    const missingDatabase = (await openPlain(url.href)).query('SELECT 1');
    await expect(missingDatabase).rejects.toThrow('Create that database, or use another one.');
    expect(await catchCode(missingDatabase)).toBe('STORE_UNAVAILABLE');
    url.password = 'wrong';
    const wrongPassword = (await openPlain(url.href)).query('SELECT 1');
    await expect(wrongPassword).rejects.toThrow('Check the user and the password');
    expect(await catchCode(wrongPassword)).toBe('STORE_UNAVAILABLE');
  });

  it.each(['postgres://someone:secret@[bad/x', 'postgres://someone:secret@host:99999/x'])(
    'reports an invalid URL, without the password: %s',
    async (url) => {
      const error: unknown = await (await openPlain(url)).query('SELECT 1').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'INVALID_STORE_URL' });
      expect(inspect(error)).not.toContain('secret');
    },
  );

  it('reports a server that does not use the PostgreSQL protocol', async () => {
    const otherServer = createServer((socket) => {
      socket.on('error', () => undefined).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    onTestFinished(() => void otherServer.close());
    await once(otherServer.listen(0, '127.0.0.1'), 'listening');
    const { port } = otherServer.address() as AddressInfo;
    const database = await openPlain(`postgres://a:b@127.0.0.1:${port}/x`);
    expect(await catchCode(database.query('SELECT 1'))).toBe('STORE_UNAVAILABLE');
  });

  it('times out when the server accepts the connection but does not respond', async () => {
    const silentServer = createServer((socket) => {
      socket.on('error', () => undefined);
    });
    onTestFinished(() => void silentServer.close());
    await once(silentServer.listen(0, '127.0.0.1'), 'listening');
    const { port } = silentServer.address() as AddressInfo;
    const database = await openPlain(`postgres://a:b@127.0.0.1:${port}/x`, { connectTimeoutMs: 100 });
    expect(await catchCode(database.query('SELECT 1'))).toBe('STORE_UNAVAILABLE');
  });

  it('fails the call that loses its connection, and reconnects for the next call', async () => {
    const url = await createDatabase();
    const [database, other] = [await openPlain(url), await openPlain(url)];
    const lostTransaction = database.transaction(async (transaction) => {
      await terminateConnections(other);
      return transaction.query('SELECT 1');
    });
    expect(await catchCode(lostTransaction)).toBe('STORE_UNAVAILABLE');
    expect((await database.query('SELECT 1 AS answer')).rows).toEqual([{ answer: 1 }]);
  });

  it.each(['statement', 'transaction'])(
    'reconnects for the next %s after the server accepted only reads',
    async (kind) => {
      const url = await createDatabase();
      const [database, admin] = [await openPlain(url, { connections: 1 }), await openPlain(url)];
      const name = new URL(url).pathname.slice(1);
      await admin.query('CREATE TABLE numbers (number integer)');
      const insert = async (): Promise<unknown> =>
        kind === 'statement'
          ? database.query('INSERT INTO numbers VALUES (1)')
          : database.transaction((transaction) => transaction.query('INSERT INTO numbers VALUES (1)'));
      // Applies to new connections, as after a failover that reaches a replica first.
      await admin.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
      await expect(insert()).rejects.toThrow(
        'It accepts only reads: wait for the failover, or use the URL of the primary.',
      );
      expect(await catchCode(insert())).toBe('STORE_UNAVAILABLE');
      await admin.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
      await insert();
      expect((await admin.query('SELECT number FROM numbers')).rows).toEqual([{ number: 1 }]);
    },
  );

  it('survives the loss of idle connections', async () => {
    const url = await createDatabase();
    const [database, other] = [await openPlain(url), await openPlain(url)];
    await Promise.all([1, 2, 3].map(async () => database.query('SELECT pg_sleep(0.05)')));
    await terminateConnections(other);
    // Each of the three connections can be used once before its loss is noticed; after that, calls succeed.
    await eventually(async () => {
      expect((await database.query('SELECT 1 AS answer')).rows).toEqual([{ answer: 1 }]);
    });
  });

  it('writes all of a transaction or nothing', async () => {
    const database = await openFreshDatabase();
    await database.query('CREATE TABLE numbers (number integer)');
    const failedTransaction = database.transaction(async (transaction) => {
      await transaction.query('INSERT INTO numbers VALUES (1)');
      await transaction.query('INSERT INTO numbers VALUES (1 / 0)');
    });
    expect(await catchCode(failedTransaction)).toBe('STORE_FAILED');
    await database.transaction((transaction) => transaction.query('INSERT INTO numbers VALUES (2)'));
    expect((await database.query('SELECT number FROM numbers')).rows).toEqual([{ number: 2 }]);
  });

  it("throws the caller's own error unchanged, and converts errors of the server", async () => {
    const database = await openFreshDatabase({ connections: 1 });
    await database.query('CREATE TABLE numbers (number integer)');
    for (const own of [new Error('own'), new TypeError('own'), Object.assign(new Error('own'), { code: 'ENOENT' })]) {
      const failedTransaction = database.transaction(async (transaction) => {
        await transaction.query('INSERT INTO numbers VALUES (1)');
        throw own;
      });
      await expect(failedTransaction).rejects.toBe(own);
    }
    const replaced = database.transaction(async (transaction) => {
      await transaction.query('SELECT 1 / 0').catch(() => {
        throw new RangeError('own');
      });
    });
    await expect(replaced).rejects.toThrow(RangeError);
    expect(await catchCode(database.transaction(async (transaction) => transaction.query('SELECT 1 / 0')))).toBe(
      'STORE_FAILED',
    );
    expect((await database.query('SELECT number FROM numbers')).rows).toEqual([]);
  });

  it('opens connections without parameters that a pooler rejects', async () => {
    const database = await openFreshDatabase();
    const { rows } = await database.query(`SELECT name FROM pg_settings WHERE source = 'client' ORDER BY name`);
    expect(rows).toEqual([{ name: 'application_name' }, { name: 'client_encoding' }]);
  });

  it('cancels a statement that exceeds the timeout', async () => {
    const database = await openFreshDatabase({ statementTimeoutMs: 50 });
    expect(await catchCode(database.query('SELECT pg_sleep(10)'))).toBe('STORE_BUSY');
  });

  it('does not time out in a long transaction, on the server or in the client', async () => {
    // Also the time limit for being idle in a transaction, which the transaction's first statement lifts.
    const database = await openFreshDatabase({ statementTimeoutMs: 2000 });
    // The client times out five seconds after the statement timeout.
    const longTransaction = database.transaction(
      async (transaction) => {
        await transaction.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
        return transaction.query(`SELECT 'awake' AS state FROM pg_sleep(7.5)`);
      },
      { isLong: true },
    );
    expect((await longTransaction).rows).toEqual([{ state: 'awake' }]);
  });

  it('fails when a lock is not released within the timeout', async () => {
    const database = await openFreshDatabase({ lockTimeoutMs: 50 });
    await database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_advisory_xact_lock(1)');
      expect(await catchCode(database.query('SELECT pg_advisory_xact_lock(1)'))).toBe('STORE_BUSY');
    });
  });

  it('retries a transaction after a conflict', async () => {
    const database = await openFreshDatabase();
    await database.query('CREATE TABLE counters (name text PRIMARY KEY, number integer)');
    await database.query(`INSERT INTO counters VALUES ('a', 0), ('b', 0)`);
    let attempts = 0;
    let openBarrier = (): void => undefined;
    const barrier = new Promise<void>((resolve) => {
      openBarrier = resolve;
    });
    // Each transaction locks one row and then needs the other's row, so PostgreSQL aborts one or both.
    const count = (first: string, second: string): Promise<void> =>
      database.transaction(async (transaction) => {
        attempts += 1;
        await transaction.query(`UPDATE counters SET number = number + 1 WHERE name = $1`, [first]);
        if (attempts >= 2) openBarrier();
        await barrier;
        await transaction.query(`UPDATE counters SET number = number + 1 WHERE name = $1`, [second]);
      });
    await Promise.all([count('a', 'b'), count('b', 'a')]);
    expect(attempts).toBeGreaterThan(2);
    expect((await database.query('SELECT number FROM counters')).rows).toEqual([{ number: 2 }, { number: 2 }]);
  });

  it('parses a statement with values once per connection', async () => {
    const database = await openFreshDatabase({ connections: 1 });
    for (const number of [1, 2, 3]) await database.query('SELECT $1::integer AS number', [number]);
    await database.transaction((transaction) => transaction.query('SELECT $1::integer AS number', [4]));
    const { rows } = await database.query(
      `SELECT generic_plans + custom_plans AS used FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1%'`,
    );
    expect(rows.map(({ used }) => Number(used))).toEqual([4]);
  });

  it('reads tables that were changed after a statement was parsed', async () => {
    const database = await openFreshDatabase({ connections: 1 });
    await database.query('CREATE TABLE numbers (number integer)');
    const read = 'SELECT * FROM numbers WHERE number <> $1';
    await database.query('INSERT INTO numbers VALUES (1)');
    expect((await database.query(read, [0])).rows).toEqual([{ number: 1 }]);
    await database.query('ALTER TABLE numbers ADD COLUMN name text');
    expect((await database.query(read, [0])).rows).toEqual([{ number: 1, name: null }]);
    await database.query('ALTER TABLE numbers DROP COLUMN name');
    const { rows } = await database.transaction((transaction) => transaction.query(read, [0]));
    expect(rows).toEqual([{ number: 1 }]);
  });

  it('never opens more connections than allowed', async () => {
    const database = await openFreshDatabase({ connections: 3 });
    const pids = await Promise.all(
      Array.from(
        { length: 12 },
        async () => (await database.query('SELECT pg_backend_pid() AS pid, pg_sleep(0.02)')).rows,
      ),
    );
    expect(new Set(pids.map((rows) => rows[0]?.['pid'])).size).toBeLessThanOrEqual(3);
  });
});
