import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/index.js';

/** Creates an empty database for the running test and returns its URL; it is deleted afterwards. */
export async function createDatabase(): Promise<string> {
  const name = await createNamed();
  onTestFinished(async () => runOn(inject('postgresUrl'), `DROP DATABASE ${name} WITH (FORCE)`));
  return getUrl(name);
}

/** Databases of earlier tests of this file, with all tables, which are empty. */
const emptied: string[] = [];

/** Databases of the running test, oldest first. */
const inUse: string[] = [];

/** If a test needs more databases, the first ones are emptied and used again: a thousand would fill the disk. */
const MAX_IN_USE = 8;

/**
 * Returns the URL of a database with empty tables: creating the tables for every test would take
 * longer than the tests.
 */
export async function makeSite(): Promise<string> {
  if (inUse.length === 0) onTestFinished(emptyAll);
  if (inUse.length >= MAX_IN_USE) await emptyOldest();
  template ??= createTemplate();
  const name = emptied.pop() ?? (await createNamed(`TEMPLATE ${await template}`));
  inUse.push(name);
  return getUrl(name);
}

async function emptyAll(): Promise<void> {
  while (inUse.length > 0) await emptyOldest();
}

async function emptyOldest(): Promise<void> {
  const name = inUse.shift();
  if (name === undefined) return;
  await runOn(getUrl(name), EMPTY);
  emptied.push(name);
}

let template: Promise<string> | undefined;

async function createTemplate(): Promise<string> {
  const name = await createNamed();
  await (await openStore(getUrl(name))).close();
  return name;
}

async function createNamed(options = ''): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOn(inject('postgresUrl'), `CREATE DATABASE ${name} ${options}`);
  return name;
}

/** Deletes all rows: for few rows that is faster than truncating many tables. Foreign keys would require a certain order. */
const EMPTY = `
  SET session_replication_role = replica;
  DO $$ DECLARE name text; BEGIN
    FOR name IN
      SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
      WHERE schemaname = 'sluice' AND tablename <> 'migrations'
    LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
  END $$`;

function getUrl(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
