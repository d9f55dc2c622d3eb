import { once } from 'node:events';
import { chmod, mkdtemp, mkdir, readdir, rm, stat, writeFile, readFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import { sampleFcmp, sampleRasp } from '../src/store/contract/fixtures/run-samples.js';
import type { Emitted } from '../src/events/index.js';
import type { Store } from '../src/store/index.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { createAgentLog } from './agent-log.js';
import { median } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult, type Target } from './part-result.js';
import { openStore, startRun } from './product.js';

/** Events per append: two lines of an agent, in both protocols. */
const PER_APPEND = 4;
/** Rounds are short and alternate with the bare statements, so other disk load affects both. */
const SECONDS = 0.75;
const ROUNDS = 9;
const SQLITE_LIMIT = 1.7;
const MAX_AMPLIFICATION = 25;
const MAX_HTTP_MS = 20;
const WORST_LIMIT = 20;
const ORDINARY_LIMIT = 4;

/** Measures the cost of storing events: disk space compared with the output, and time compared with bare statements. */
export async function runEventStorage(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const diskSpace = await measureDiskSpace(folder);
    const few = await measureSqlite(folder, 8);
    const manyRuns = await measureSqlite(folder, 128);
    const large = await measureWithLarge(folder);
    const commonFields = await measurePostgres(folder, 128);
    return {
      title: 'Storing events',
      targets: [...diskSpace.targets, ...few.targets, ...manyRuns.targets, large.target, ...commonFields.targets],
      tables: [
        {
          title: 'Disk space of run folder and SQLite file, as multiples of the output',
          columns: ['', 'printed', 'stored', 'ratio'],
          rows: diskSpace.rows,
        },
        {
          title: `SQLite on this disk, appends of ${PER_APPEND} events, one after the other in each run`,
          columns: ['', 'bare statements', 'store', 'ratio', 'bytes written for each byte of event', 'HTTP p50'],
          rows: [few.row, manyRuns.row],
        },
        {
          title: `PostgreSQL on this host, synced, appends of ${PER_APPEND} events`,
          columns: ['', 'bare statements', 'store', 'ratio', 'events a second'],
          rows: [commonFields.row],
        },
        { title: 'SQLite, 10,000 appends with four events of 5 MB', columns: ['', 'time'], rows: large.rows },
      ],
      groups: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const TEXTS: readonly {
  readonly name: string;
  readonly reads: string;
  readonly text: () => Uint8Array;
  readonly limit: number;
}[] = [
  { name: 'one-letter lines', reads: 'generic', text: () => Buffer.from('a\nb\n'.repeat(100_000)), limit: WORST_LIMIT },
  {
    name: 'lines of `{}`, read as codex',
    reads: 'codex',
    text: () => Buffer.from('{}\n'.repeat(100_000)),
    limit: WORST_LIMIT,
  },
  {
    name: 'lines of 80 characters',
    reads: 'generic',
    text: () => Buffer.from(`${'word '.repeat(16)}\n`.repeat(5000)),
    limit: ORDINARY_LIMIT,
  },
  {
    name: 'codex, lines of 2 KB',
    reads: 'codex',
    text: () => createAgentLog('codex', 'ASCII', 2000, 1_000_000),
    limit: ORDINARY_LIMIT,
  },
  {
    name: 'claude, lines of 2 KB',
    reads: 'claude',
    text: () => createAgentLog('claude', 'ASCII', 2000, 1_000_000),
    limit: ORDINARY_LIMIT,
  },
];

async function measureDiskSpace(folder: string): Promise<{ readonly targets: Target[]; readonly rows: string[][] }> {
  const targets: Target[] = [];
  const rows: string[][] = [];
  for (const [index, { name, reads, text, limit }] of TEXTS.entries()) {
    const data = join(folder, `diskSpace-${index}`);
    const workdir = join(folder, `work-${index}`);
    await mkdir(data, { recursive: true });
    await mkdir(workdir);
    const printed = text();
    await writeFile(join(workdir, 'printed'), printed);
    const file = join(data, 'sluice.db');
    const store = await openStore(`sqlite:${file}`);
    const before = measureDatabase(file);
    const run = startRun(
      {
        engine: 'command',
        command: ['cat', 'printed'],
        ...(reads === 'generic' ? {} : { format: reads }),
        workdir,
      },
      { data, eventLog: store },
    );
    const { error } = await run.result;
    const stored = (await measureFolder(join(data, 'runs', run.id))) + measureDatabase(file) - before;
    await store.close();
    const ratio = stored / printed.length;
    // The output itself is kept, so less means that nothing was run.
    if (ratio < 1) throw new Error(`The run of ${name} kept ${stored} bytes: ${error?.message ?? 'no error'}`);
    targets.push(atMost(`disk space for ${name}`, ratio, limit, 'the output'));
    rows.push([name, formatMegabytes(printed.length), formatMegabytes(stored), formatRatio(ratio)]);
  }
  return { targets, rows };
}

function measureDatabase(file: string): number {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { size } = database
    .prepare('SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size')
    .get() as { size: number };
  database.close();
  return size;
}

async function measureFolder(dir: string): Promise<number> {
  const names = await readdir(dir, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => stat(join(dir, name))));
  return sizes.reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
}

/** Appends events to multiple runs concurrently, one append after another in each run, for some time. */
async function appendFor(
  store: Pick<Store, 'append'>,
  runs: number,
  prefix = '',
): Promise<{ readonly events: number; readonly bytes: number; readonly seconds: number }> {
  const start = performance.now();
  let [events, bytes] = [0, 0];
  const work = async (run: string): Promise<void> => {
    for (let seq = 1; performance.now() - start < SECONDS * 1000; seq += PER_APPEND / 2) {
      const batch = makeBatch(seq);
      await store.append(run, batch);
      events += batch.length;
      bytes += BATCH_BYTES;
    }
  };
  await Promise.all(
    Array.from({ length: runs }, async (_, run) => work(`${prefix}01KA3ORDERASKED${String(run).padStart(11, '0')}`)),
  );
  return { events, bytes, seconds: (performance.now() - start) / 1000 };
}

const WORDS = 'the agent reads a file of the project and reports what it found there, line by line, '.repeat(2);

function makeBatch(seq: number): Emitted[] {
  return Array.from({ length: PER_APPEND / 2 }, (_, index) => index + seq).flatMap((each) => [
    sampleRasp(1, each, `${each} ${WORDS}`),
    sampleFcmp(each, `${each} ${WORDS}`),
  ]);
}

const BATCH_BYTES = makeBatch(1).reduce((sum, { event }) => sum + JSON.stringify(event).length, 0);

async function measureSqlite(folder: string, runs: number) {
  const [floors, owns, ratios]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const floor = measureFloor(join(folder, `floor-${runs}-${round}.db`), runs);
    const store = await openStore(`sqlite:${join(folder, `own-${runs}-${round}.db`)}`);
    const { events, seconds } = await appendFor(store, runs);
    await store.close();
    const own = (seconds * 1e6) / events;
    floors?.push(floor);
    owns?.push(own);
    ratios?.push(own / floor);
  }
  const [floor, each, ratio] = [floors, owns, ratios].map((all) => median(all ?? [])) as [number, number, number];
  const { amplification, p50 } = await measureSideEffects(folder, runs);
  return {
    targets: [
      atMost(`events on SQLite, ${runs} runs`, ratio, SQLITE_LIMIT, 'bare statements'),
      atMost(`bytes written to the disk for events, ${runs} runs`, amplification, MAX_AMPLIFICATION, 'their JSON'),
      {
        what: `HTTP during ${runs} runs that append`,
        limit: `p50 ≤ ${MAX_HTTP_MS} ms`,
        measured: formatMs(p50),
        met: p50 <= MAX_HTTP_MS,
      },
    ],
    row: [
      `${runs} runs`,
      `${floor.toFixed(0)} µs per event`,
      `${each.toFixed(0)} µs per event`,
      formatRatio(ratio),
      formatRatio(amplification),
      formatMs(p50),
    ],
  };
}

/**
 * Measures the bytes written to the disk, and how long requests wait meanwhile; in separate rounds, because this
 * measurement takes time too.
 */
async function measureSideEffects(folder: string, runs: number) {
  const [amplifications, latencies]: number[][] = [[], []];
  const store = await openStore(`sqlite:${join(folder, `effects-${runs}.db`)}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    const latency = await watchLatency();
    const before = await readWrittenBytes();
    const { bytes } = await appendFor(store, runs, `${round}`);
    amplifications?.push(((await readWrittenBytes()) - before) / bytes);
    latencies?.push(await latency.end());
  }
  await store.close();
  return { amplification: median(amplifications ?? []), p50: median(latencies ?? []) };
}

/**
 * Measures the same events without Sluice: one row each, from prepared strings, one transaction for all runs, synced.
 */
function measureFloor(file: string, runs: number): number {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE events (run_id TEXT, protocol TEXT, attempt INTEGER, seq INTEGER, event TEXT)');
  database.exec('CREATE UNIQUE INDEX by_position ON events (run_id, protocol, attempt, seq)');
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
  const texts = makeBatch(1).map(({ protocol, event }) => ({ protocol, text: JSON.stringify(event) }));
  const start = performance.now();
  let events = 0;
  for (let seq = 1; performance.now() - start < SECONDS * 1000; seq += PER_APPEND) {
    database.exec('BEGIN IMMEDIATE');
    for (let run = 0; run < runs; run += 1) {
      for (const [index, { protocol, text }] of texts.entries())
        insert.run(`01KA3ORDERASKED${String(run).padStart(11, '0')}`, protocol, 1, seq + index, text);
    }
    database.exec('COMMIT');
    events += runs * texts.length;
  }
  const each = ((performance.now() - start) * 1000) / events;
  database.close();
  return each;
}

/** Measures how long a request unrelated to events has to wait. */
async function watchLatency(): Promise<{ end(): Promise<number> }> {
  const server = createServer((_, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const samples: number[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const start = performance.now();
      const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      samples.push(performance.now() - start);
      await sleep(5);
    }
  };
  const latencies = watch();
  return {
    async end() {
      over.abort();
      await latencies;
      server.close();
      return median(samples);
    },
  };
}

/** Returns the number of bytes this process has written to disk; 0 if the system does not report it. */
async function readWrittenBytes(): Promise<number> {
  const text = await readFile('/proc/self/io', 'utf8').catch(() => '');
  return Number(/^write_bytes: (\d+)$/m.exec(text)?.[1] ?? 0);
}

const POSTGRES_LIMIT = 2.5;
const POSTGRES_RATE = 16_000;

async function measurePostgres(folder: string, runs: number) {
  const serverFolder = join(folder, 'postgres');
  await mkdir(serverFolder);
  await chmod(folder, 0o755);
  const server = await createPostgresServer(serverFolder);
  await server.start();
  try {
    const [floors, owns, ratios]: number[][] = [[], [], []];
    const store = await openStore(server.url);
    for (let round = 0; round < ROUNDS; round += 1) {
      const bare = await measurePostgresFloor(server.url, runs, round);
      const { events, seconds } = await appendFor(store, runs, `${round}`);
      const own = (seconds * 1e6) / events;
      floors?.push(bare);
      owns?.push(own);
      ratios?.push(own / bare);
    }
    await store.close();
    const [floor, each, ratio] = [floors, owns, ratios].map((all) => median(all ?? [])) as [number, number, number];
    const rate = Math.round(1e6 / each);
    return {
      targets: [
        atMost(`events on PostgreSQL, ${runs} runs`, ratio, POSTGRES_LIMIT, 'bare statements'),
        {
          what: `events on PostgreSQL, ${runs} runs, a second`,
          limit: `≥ ${POSTGRES_RATE.toLocaleString('en-US')}`,
          measured: rate.toLocaleString('en-US'),
          met: rate >= POSTGRES_RATE,
        },
      ],
      row: [
        `${runs} runs`,
        `${floor.toFixed(0)} µs per event`,
        `${each.toFixed(0)} µs per event`,
        formatRatio(ratio),
        rate.toLocaleString('en-US'),
      ],
    };
  } finally {
    await server.stop();
  }
}

/**
 * Measures the same events without Sluice: one row each, from prepared and joined strings, one statement for all runs.
 */
async function measurePostgresFloor(url: string, runs: number, round: number): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    `CREATE TABLE floor_${round} (run_id text, protocol text, attempt int, seq int, event text, PRIMARY KEY (run_id, protocol, attempt, seq))`,
  );
  const text = makeBatch(1).map(({ event }) => JSON.stringify(event));
  const events = Array.from({ length: runs }, () => text)
    .flat()
    .join('\n');
  const start = performance.now();
  let count = 0;
  for (let turn = 0; performance.now() - start < SECONDS * 1000; turn += 1) {
    await client.query(
      `INSERT INTO floor_${round}
       SELECT 'run ' || n / ${PER_APPEND}, 'rasp', 1, $2::int * ${PER_APPEND} + n % ${PER_APPEND}, event
       FROM string_to_table($1, E'\n') WITH ORDINALITY AS rows (event, n)`,
      [events, turn],
    );
    count += runs * PER_APPEND;
  }
  const each = ((performance.now() - start) * 1000) / count;
  await client.end();
  return each;
}

const LARGE = 5_000_000;
const INSERTS = 10_000;

/** Measures how much large events slow down others. */
async function measureWithLarge(folder: string) {
  const time = async (name: string, large: number): Promise<number> => {
    const store = await openStore(`sqlite:${join(folder, name)}`);
    for (let seq = 1; seq <= large; seq += 1) await store.append('large', [sampleRasp(1, seq, 'x'.repeat(LARGE))]);
    const start = performance.now();
    await Promise.all(
      Array.from({ length: INSERTS }, async (_, index) =>
        store.append(`run ${index % 100}`, [sampleRasp(1, 1 + Math.floor(index / 100))]),
      ),
    );
    const elapsed = performance.now() - start;
    await store.close();
    return elapsed;
  };
  const plainRate = await time('without.db', 0);
  const mixedRate = await time('with-large.db', 4);
  return {
    target: atMost('10,000 appends with four events of 5 MB', mixedRate / plainRate, 1.5, 'the time without them'),
    rows: [
      ['without', formatMs(plainRate)],
      ['with', formatMs(mixedRate)],
    ],
  };
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
