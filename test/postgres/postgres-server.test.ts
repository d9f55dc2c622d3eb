import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase } from './fresh-database.js';
import { createPostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX, sweepLeftovers } from './sweep-leftovers.js';

/** A pid that no process has: Linux assigns no pid above 4,194,304. */
const UNUSED_PID = 4_999_999;

async function makeParent(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  await chmod(parent, 0o711);
  onTestFinished(async () => rm(parent, { recursive: true, force: true }));
  return parent;
}

async function query(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows[0];
  } finally {
    await client.end();
  }
}

describe('the PostgreSQL server of the tests', () => {
  it('creates a separate database for every test', async () => {
    const [first, second] = [await createDatabase(), await createDatabase()];
    await query(first, 'CREATE TABLE mine ()');
    expect(await query(second, "SELECT to_regclass('mine') AS found")).toEqual({ found: null });
  });

  it('is killed, and its files are removed, if the process that started it was killed', async () => {
    const parent = await makeParent();
    const folder = join(parent, `${FOLDER_PREFIX}${UNUSED_PID}-left`);
    await mkdir(folder);
    const server = await createPostgresServer(folder);
    await server.start();
    expect(await query(server.url, 'SELECT 1 AS answer')).toEqual({ answer: 1 });
    await sweepLeftovers(parent);
    await expect(query(server.url, 'SELECT 1 AS answer')).rejects.toThrow('ECONNREFUSED');
    expect(await readdir(parent)).toEqual([]);
  });

  it('keeps running while the process that started it runs, and an unrelated process with the same pid is not killed', async () => {
    const parent = await makeParent();
    await mkdir(join(parent, `${FOLDER_PREFIX}${process.pid}-mine`));
    const data = join(parent, `${FOLDER_PREFIX}${UNUSED_PID}-other`, 'data');
    await mkdir(data, { recursive: true });
    // The pid of this process: if it were killed, the test would not reach the next line.
    await writeFile(join(data, 'postmaster.pid'), `${process.pid}\n`);
    await sweepLeftovers(parent);
    expect(await readdir(parent)).toEqual([`${FOLDER_PREFIX}${process.pid}-mine`]);
  });
});
