/**
 * Writes a golden store of the current schema version, for SQLite and PostgreSQL: `npx tsx scripts/golden-store.ts`.
 * Run it before a release with a new schema version; tests migrate every golden store and read it.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { fillGolden, readEverything } from '../src/store/contract/fixtures/golden-store.js';
import { backUpStore, openStore } from '../src/store/index.js';
import { MIGRATIONS as POSTGRES } from '../src/store/postgres/migrations.js';
import { MIGRATIONS as SQLITE } from '../src/store/sqlite/migrations.js';
import { createPostgresServer, UNSAFE_BUT_FAST } from '../test/postgres/postgres-server.js';
import { PROJECT } from './run-tool.js';

await withFolder(writeSqlite);
await withFolder(writePostgres);

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-golden-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeSqlite(folder: string): Promise<void> {
  const file = join(folder, 'sluice.db');
  const content = await fill(`sqlite:${file}`);
  const copy = join(folder, 'copy.db');
  await backUpStore(`sqlite:${file}`, copy);
  await save(`src/store/sqlite/fixtures/store-form-${SQLITE.length}`, 'db', await readFile(copy), content);
}

async function writePostgres(folder: string): Promise<void> {
  const server = await createPostgresServer(folder, UNSAFE_BUT_FAST);
  await server.start();
  try {
    const content = await fill(server.url);
    const rows = Buffer.from(await dump(server.url));
    await save(`src/store/postgres/fixtures/store-form-${POSTGRES.length}`, 'sql', rows, content);
  } finally {
    await server.stop();
  }
}

async function fill(url: string): Promise<string> {
  const store = await openStore(url);
  try {
    await fillGolden(store);
    return JSON.stringify(await readEverything(store));
  } finally {
    await store.close();
  }
}

async function save(path: string, extension: string, store: Uint8Array, content: string): Promise<void> {
  await writeFile(join(PROJECT, `${path}.${extension}.gz`), gzipSync(store, { level: 9 }));
  await writeFile(join(PROJECT, `${path}.json.gz`), gzipSync(content, { level: 9 }));
  console.log(`${path}.${extension}.gz`);
}

/** Writes the rows of all tables as statements; the migration steps create the tables. */
async function dump(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // Referenced rows come first.
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'sluice' AND tablename <> 'migrations'
       ORDER BY tablename NOT IN ('issues', 'runs'), tablename`,
    );
    let text = '';
    for (const { name } of tables) {
      const { rows, fields } = await client.query<Cell[]>({
        text: `SELECT * FROM sluice.${name}`,
        rowMode: 'array',
      });
      if (rows.length === 0) continue;
      const values = rows.map((row) => `(${row.map((value) => toLiteral(value)).join(', ')})`);
      const columns = fields.map((field) => field.name);
      text += `INSERT INTO sluice.${name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE VALUES\n${values.join(',\n')};\n`;
      if (columns.includes('seq') && name !== 'run_digests') {
        text += `SELECT setval(pg_get_serial_sequence('sluice.${name}', 'seq'), (SELECT max(seq) FROM sluice.${name}));\n`;
      }
    }
    return text;
  } finally {
    await client.end();
  }
}

type Cell = string | number | boolean | Buffer | null;

function toLiteral(value: Cell): string {
  if (value === null) return 'NULL';
  return Buffer.isBuffer(value) ? `'\\x${value.toString('hex')}'` : pg.escapeLiteral(String(value));
}
