import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatMs, type PartResult } from './part-result.js';
import { openSseReader, type SseBehaviour, type SseReader } from './sse-reader.js';
import type { SseCommand, SseReport } from './sse-server.js';

const READERS = Number(process.env['SSE_READERS'] ?? 1000);
const RATE = 200;
const SECONDS = Number(process.env['SSE_SECONDS'] ?? 15);
/** A slow reader reads only twice during the run, so many events wait for it. */
const SLOW_PAUSE_MS = SECONDS * 450;
/** How long slow readers may take to catch up after the end. */
const CATCH_UP_MS = 60_000;
/** One reader out of this many is timed. */
const TIMED = 20;
/**
 * How much the server's memory may grow after the first third of the run: garbage not yet collected, and data for slow
 * readers.
 */
const MAX_GROWTH = 128_000_000;

interface Outcome {
  readonly emitted: number;
  readonly readers: readonly SseReader[];
  readonly p50: number;
  readonly p99: number;
  readonly grown: number;
}

/** Measures one run with a thousand readers: some reconnect, some are slow, one is stuck. */
export async function runSse(): Promise<PartResult> {
  const sluice = await measure('sluice', pickBehaviour);
  const bare = await measure('bare', () => 'steady');
  const live = sluice.readers.filter(({ behaviour }) => behaviour !== 'stuck');
  const complete = live.filter(({ last, mistakes }) => last === sluice.emitted && mistakes === 0).length;
  const sum = (get: (reader: SseReader) => number): number => live.reduce((total, reader) => total + get(reader), 0);
  return {
    title: 'Streams',
    targets: [
      {
        what: `${READERS.toLocaleString('en-US')} readers of a run with ${RATE} events a second, ${SECONDS} s`,
        limit: 'every live reader gets every event once and in order',
        measured: `${complete} of ${live.length} readers complete, ${sluice.emitted.toLocaleString('en-US')} events each`,
        met: complete === live.length && sluice.emitted > 0,
      },
      {
        what: 'server memory growth meanwhile',
        limit: `≤ ${MAX_GROWTH / 1e6} MB`,
        measured: `${Math.round(sluice.grown / 1e6)} MB`,
        met: sluice.grown <= MAX_GROWTH,
      },
    ],
    tables: [
      {
        title: 'From event creation until a steady reader receives it',
        columns: ['', 'median', 'p99', 'events × readers'],
        rows: [
          ['Sluice, from SQLite', formatMs(sluice.p50), formatMs(sluice.p99), formatDelivered(sluice)],
          ['bare `node:http`, writes grouped for 50 ms', formatMs(bare.p50), formatMs(bare.p99), formatDelivered(bare)],
        ],
      },
      {
        title: 'Reconnections and slow readers',
        columns: ['reconnections', 'times a reader fell behind and was served from the store'],
        rows: [[String(sum(({ connections }) => connections - 1)), String(sum(({ lags }) => lags))]],
      },
    ],
    groups: [],
  };
}

/** A tenth reconnects at random, a fiftieth is slow, one is stuck. */
function pickBehaviour(index: number): SseBehaviour {
  if (index === 0) return 'stuck';
  if (index % 10 === 1) return 'reconnecting';
  return index % 50 === 2 ? 'slow' : 'steady';
}

async function measure(kind: SseCommand['kind'], choose: (index: number) => SseBehaviour): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const server = fork(fileURLToPath(new URL('./sse-server.js', import.meta.url)));
  const readers: SseReader[] = [];
  try {
    let [rss, peak] = [0, 0];
    server.on('message', (report: SseReport) => {
      if (!('rss' in report)) return;
      rss = report.rss;
      peak = Math.max(peak, rss);
    });
    server.send({ kind, folder, rate: RATE } satisfies SseCommand);
    const { url } = await waitForReport(server, (report) => ('url' in report ? report : undefined));
    for (let index = 0; index < READERS; index++) {
      const behaviour = choose(index);
      const isTimed = behaviour === 'steady' && index % TIMED === 5;
      readers.push(openSseReader(url, { behaviour, isTimed, pauseMs: SLOW_PAUSE_MS }));
      if (index % 50 === 49) await wait(50);
    }
    await wait(1000);
    server.send('go');
    await wait((SECONDS * 1000) / 3);
    const early = rss;
    peak = 0;
    await wait((SECONDS * 2000) / 3);
    const stopped = waitForReport(server, (report) => ('emitted' in report ? report : undefined));
    server.send('stop');
    const { emitted } = await stopped;
    await untilAllEnded(readers);
    const delays = readers.flatMap((reader) => reader.delays).toSorted((one, other) => one - other);
    const at = (share: number): number => delays[Math.floor(delays.length * share)] ?? Number.NaN;
    return { emitted, readers, p50: at(0.5), p99: at(0.99), grown: peak - early };
  } finally {
    for (const reader of readers) reader.close();
    server.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilAllEnded(readers: readonly SseReader[]): Promise<void> {
  const until = performance.now() + CATCH_UP_MS;
  while (readers.some(isOpen) && performance.now() < until) await wait(100);
}

function isOpen({ behaviour, hasEnded }: SseReader): boolean {
  return behaviour !== 'stuck' && !hasEnded;
}

async function waitForReport<T>(server: ChildProcess, find: (report: SseReport) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    server.once('exit', () => reject(new Error('The bench server has exited.')));
    server.on('message', (report: SseReport) => {
      const found = find(report);
      if (found !== undefined) resolve(found);
    });
  });
}

function formatDelivered({ emitted, readers }: Outcome): string {
  return `${emitted.toLocaleString('en-US')} × ${readers.length.toLocaleString('en-US')}`;
}
