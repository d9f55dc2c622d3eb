import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

/** The URL of an empty database of its own for the running test; it is gone afterwards. */
export async function createDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOnServer(`CREATE DATABASE ${name}`);
  onTestFinished(async () => runOnServer(`DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

async function runOnServer(statement: string): Promise<void> {
  const client = new pg.Client(inject('postgresUrl'));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
