import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/index.js';

/** Creates an empty database for the current test and returns its URL. The database is deleted afterwards. */
export async function createDatabase(): Promise<string> {
  const name = await createNamedDatabase();
  onTestFinished(async () => execute(inject('postgresUrl'), `DROP DATABASE ${name} WITH (FORCE)`));
  return getUrl(name);
}

/** Databases with empty tables, left by earlier tests in this file. */
const emptyDatabases: string[] = [];

/** The current test's databases, oldest first. */
const databasesInUse: string[] = [];

/** If a test needs more databases, the oldest are emptied and reused: a thousand would fill the disk. */
const MAX_DATABASES_IN_USE = 8;

/**
 * Returns the URL of a database with empty tables. Creating the tables for every test would take longer than the tests.
 */
export async function makeSite(): Promise<string> {
  if (databasesInUse.length === 0) onTestFinished(emptyAll);
  if (databasesInUse.length >= MAX_DATABASES_IN_USE) await emptyOldest();
  template ??= createTemplate();
  const name = emptyDatabases.pop() ?? (await createNamedDatabase(`TEMPLATE ${await template}`));
  databasesInUse.push(name);
  return getUrl(name);
}

async function emptyAll(): Promise<void> {
  while (databasesInUse.length > 0) await emptyOldest();
}

async function emptyOldest(): Promise<void> {
  const name = databasesInUse.shift();
  if (name === undefined) return;
  await execute(getUrl(name), DELETE_ALL_ROWS);
  emptyDatabases.push(name);
}

let template: Promise<string> | undefined;

async function createTemplate(): Promise<string> {
  const name = await createNamedDatabase();
  await (await openStore(getUrl(name))).close();
  return name;
}

async function createNamedDatabase(options = ''): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(inject('postgresUrl'), `CREATE DATABASE ${name} ${options}`);
  return name;
}

/**
 * Deletes all rows, which is faster than truncating when there are few. Foreign keys are off, because they would
 * require a certain order.
 */
const DELETE_ALL_ROWS = `
  SET session_replication_role = replica;
  DO $$ DECLARE name text; BEGIN
    FOR name IN
      SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
      WHERE schemaname = 'sluice' AND tablename <> 'schema_versions'
    LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
  END $$`;

function getUrl(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
