import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { ParseResult } from '../src/json/index.js';
import { compare, type Subject } from './measure.js';
import {
  atMost,
  formatMs,
  formatRatio,
  type BarGroup,
  type PartResult,
  type Table,
  type Target,
} from './part-result.js';
import { createJsonStream } from './product.js';
import { loadStreamPeers, TimeLimitReached, type StreamPeer } from './stream-peers.js';
import { cutText, STREAM_TEXTS, type StreamShape, type StreamText } from './stream-texts.js';

const SHORT = 100_000;
const LONG = 1_000_000;
const LIMIT = 20;
const MAX_GROWTH = 10.5;
/** The number of short inputs that add up to the long one. */
const SHORT_RUNS = LONG / SHORT;
const EFFORT = { rounds: 15, budget: 3000 };
/** The time limit of a peer for the 100 KB, in milliseconds. */
const TIME_OUT = 10_000;
/** A peer slower than this, in milliseconds, runs only once. */
const SLOW = 400;
const SHAPES = Object.keys(STREAM_TEXTS) as StreamShape[];

/** The cost of one shape. */
interface Cost {
  readonly shape: StreamShape;
  readonly base: number;
  readonly ratio: number;
  readonly withPaths: number;
  readonly growth: number;
  readonly right: boolean;
}

/** Measures streaming in chunks of 20 characters with a snapshot after each, compared with one `JSON.parse` of the whole. */
export async function runStreaming(): Promise<PartResult> {
  const costs: Cost[] = [];
  for (const shape of SHAPES) {
    console.error(`  ${shape}`);
    costs.push(await measureShape(shape));
  }
  console.error('  peers');
  const peers = await measurePeers(STREAM_TEXTS.records(SHORT));
  console.error('  memory');
  const memory = SHAPES.map(measureMemory);
  const records = costs.filter(({ shape }) => shape === 'records');
  return {
    title: 'Streaming',
    targets: [
      ...records.map(({ ratio, right }) =>
        ifRight(right, atMost('stream, 100 KB of records', ratio, LIMIT, 'JSON.parse of the whole')),
      ),
      ...costs.map(({ shape, growth, right }) =>
        ifRight(right, atMost(`stream, ${shape}, 1 MB`, growth, MAX_GROWTH, 'the time of 100 KB')),
      ),
      ...memory.map(({ shape, text, value, streaming }) =>
        atMost(`stream, ${shape}, 1 MB, memory`, streaming / (value + 2 * text), 1, '(the value + twice the text)'),
      ),
    ],
    tables: [createCostTable(costs), peers.table, createMemoryTable(memory)],
    groups: [
      {
        title: 'stream, 100 KB of records, 20 characters per chunk',
        base: 'JSON.parse of the whole',
        limit: LIMIT,
        bars: [...records.map(({ ratio }) => ({ name: 'createJsonStream', ratio })), ...peers.bars],
      },
      ...costs
        .filter(({ shape }) => shape !== 'records')
        .map(({ shape, ratio }) => ({
          title: `stream, 100 KB, ${shape}`,
          base: 'JSON.parse of the whole',
          bars: [{ name: 'createJsonStream', ratio }],
        })),
    ],
  };
}

async function measureShape(shape: StreamShape): Promise<Cost> {
  const { text, json } = STREAM_TEXTS[shape](SHORT);
  const chunks = cut(text);
  const long = cut(STREAM_TEXTS[shape](LONG).text);
  const [base, own, withPaths] = await compare(
    [
      { name: 'JSON.parse', run: () => JSON.parse(json) as unknown },
      { name: 'createJsonStream', run: () => follow(chunks) },
      { name: 'with paths', run: () => followPaths(chunks) },
    ],
    EFFORT,
  );
  const { snapshot, result } = follow(chunks);
  const value: unknown = JSON.parse(json);
  return {
    shape,
    base: base?.milliseconds ?? Number.NaN,
    ratio: own?.ratio ?? Number.NaN,
    withPaths: withPaths?.ratio ?? Number.NaN,
    growth: await measureGrowth(chunks, long),
    right: isDeepStrictEqual(snapshot, value) && result.ok && isDeepStrictEqual(result.value, value),
  };
}

/** Compares the long input with short ones of the same total length, so garbage is collected during both. */
async function measureGrowth(short: readonly string[], long: readonly string[]): Promise<number> {
  const shortRuns: Subject = {
    name: 'short',
    run() {
      for (let count = 0; count < SHORT_RUNS; count++) follow(short);
    },
  };
  const [, measured] = await compare([shortRuns, { name: 'long', run: () => follow(long) }], EFFORT);
  return (measured?.ratio ?? Number.NaN) * SHORT_RUNS;
}

function follow(chunks: readonly string[]): { snapshot: unknown; result: ParseResult<unknown> } {
  const stream = createJsonStream();
  let snapshot: unknown;
  for (const chunk of chunks) snapshot = stream.push(chunk).value;
  return { snapshot, result: stream.end() };
}

/** Does the same, and also reads the changed paths. */
function followPaths(chunks: readonly string[]): number {
  const stream = createJsonStream();
  let count = 0;
  for (const chunk of chunks) count += stream.push(chunk).changed.length;
  stream.end();
  return count;
}

/** Runs each peer once within its time limit, and fast peers also side by side with `JSON.parse`. */
async function measurePeers({ text, json }: StreamText): Promise<{ table: Table; bars: BarGroup['bars'] }> {
  const chunks = cut(text);
  const base: Subject = { name: 'JSON.parse', run: () => JSON.parse(json) as unknown };
  const rows: string[][] = [];
  const bars: { name: string; ratio: number; note?: string }[] = [];
  for (const peer of await loadStreamPeers()) {
    const { time, verdict } = await tryPeer(peer, chunks, JSON.parse(json));
    if (time === undefined) {
      rows.push([peer.name, verdict, '']);
      continue;
    }
    const repeated: Subject = { name: peer.name, run: () => peer.follow(chunks, Infinity) };
    const [parse, measured] = await compare(time < SLOW ? [base, repeated] : [base], EFFORT);
    const ratio = measured?.ratio ?? time / (parse?.milliseconds ?? Number.NaN);
    rows.push([peer.name, formatRatio(ratio), `${verdict}${time < SLOW ? '' : ', one run'}`]);
    bars.push({ name: peer.name, ratio, ...(verdict === 'right' ? {} : { note: verdict }) });
  }
  const title = `Peers on the 100 KB of records, a value after each chunk, at most ${TIME_OUT / 1000} s`;
  return { table: { title, columns: ['', 'multiples of `JSON.parse`', ''], rows }, bars };
}

/** Returns the processor time of one run, and its verdict. */
async function tryPeer(
  { follow: read }: StreamPeer,
  chunks: readonly string[],
  intended: unknown,
): Promise<{ time?: number; verdict: string }> {
  const start = process.cpuUsage();
  try {
    const value = await read(chunks, performance.now() + TIME_OUT);
    const { user, system } = process.cpuUsage(start);
    return { time: (user + system) / 1000, verdict: isDeepStrictEqual(value, intended) ? 'right' : 'wrong' };
  } catch (error) {
    if (!(error instanceof TimeLimitReached)) return { verdict: 'refuses' };
    return { verdict: `did not finish (${Math.round(error.share * 100)}% of the text)` };
  }
}

interface Memory {
  readonly shape: StreamShape;
  readonly text: number;
  readonly value: number;
  readonly streaming: number;
  readonly ended: number;
}

/** Measures the memory in a separate process, so nothing else is on the heap. */
function measureMemory(shape: StreamShape): Memory {
  const program = fileURLToPath(new URL('./stream-memory.js', import.meta.url));
  const printed = execFileSync(process.execPath, ['--expose-gc', '--import', 'tsx', program, shape], {
    encoding: 'utf8',
  });
  return { shape, ...(JSON.parse(printed) as Omit<Memory, 'shape'>) };
}

function createCostTable(costs: readonly Cost[]): Table {
  return {
    title: '100 KB in chunks of 20 characters, a snapshot after each, and the end; multiples of one `JSON.parse`',
    columns: ['', '`JSON.parse`', 'Sluice `createJsonStream`', '`changed` read too', '1 MB against 100 KB', ''],
    rows: costs.map(({ shape, base, ratio, withPaths, growth, right }) => [
      shape,
      formatMs(base),
      formatRatio(ratio),
      formatRatio(withPaths),
      formatRatio(growth),
      right ? 'right' : 'wrong',
    ]),
  };
}

function createMemoryTable(rows: readonly Memory[]): Table {
  return {
    title:
      'Heap after garbage collection, 1 MB: holding the stream and the last snapshot, then also the result of `end`',
    columns: ['', 'text', 'value of `JSON.parse`', 'before `end`', 'of value + 2 × text', 'after `end`'],
    rows: rows.map(({ shape, text, value, streaming, ended }) => [
      shape,
      formatMegabytes(text),
      formatMegabytes(value),
      formatMegabytes(streaming),
      formatRatio(streaming / (value + 2 * text)),
      formatMegabytes(ended),
    ]),
  };
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}

function ifRight(right: boolean, target: Target): Target {
  return right ? target : { ...target, measured: `${target.measured}, wrong value`, met: false };
}

function cut(text: string): string[] {
  return [...cutText(Buffer.from(text, 'latin1'))];
}
