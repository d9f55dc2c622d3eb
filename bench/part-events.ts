import { splitLog, createAgentLog, type LogEngine, type LogScript } from './agent-log.js';
import { createLineReader } from './line-reader.js';
import { compare } from './measure.js';
import { atMost, formatMs, formatRatio, type BarGroup, type PartResult, type Target } from './part-result.js';
import { createTranslator } from './product.js';

const LIMIT = 2.5;
const MAX_GROWTH = 2.3;
const ROUNDS = 15;
const BYTES = 4_000_000;

const LOGS: readonly { readonly engine: LogEngine; readonly script: LogScript; readonly lineBytes: number }[] = [
  { engine: 'codex', script: 'ASCII', lineBytes: 200 },
  { engine: 'codex', script: 'CJK', lineBytes: 200 },
  { engine: 'codex', script: 'ASCII', lineBytes: 20_000 },
  { engine: 'codex', script: 'CJK', lineBytes: 20_000 },
  { engine: 'claude', script: 'ASCII', lineBytes: 20_000 },
  { engine: 'claude', script: 'CJK', lineBytes: 20_000 },
];

/** Measures translating an agent's bytes into events, compared with the minimum work of any NDJSON reader. */
export async function runEvents(): Promise<PartResult> {
  const targets: Target[] = [];
  const groups: BarGroup[] = [];
  const rows: string[][] = [];
  for (const { engine, script, lineBytes } of LOGS) {
    const name = `${engine}, ${script} lines of ${lineBytes === 200 ? '200 bytes' : '20 KB'}`;
    const chunks = splitLog(createAgentLog(engine, script, lineBytes, BYTES));
    const twice = splitLog(createAgentLog(engine, script, lineBytes, 2 * BYTES));
    const own = { name: 'translate', run: () => translate(engine, chunks) };
    const [loop, measured] = await compare([{ name: 'loop', run: () => readLines(chunks) }, own]);
    const ratio = measured?.ratio ?? Number.NaN;
    const growth = measureGrowth(own.run, () => translate(engine, twice));
    targets.push(atMost(`translate, ${name}`, ratio, LIMIT, 'decode, split, JSON.parse'));
    targets.push(atMost(`translate, ${name}, twice as long`, growth, MAX_GROWTH, 'the time'));
    groups.push({
      title: `translate, ${name}`,
      base: 'decode, split, JSON.parse',
      limit: LIMIT,
      bars: [{ name: 'translate', ratio }],
    });
    rows.push([name, formatMs(loop?.milliseconds ?? Number.NaN), formatRatio(ratio), formatRatio(growth)]);
  }
  return {
    title: 'Events',
    targets,
    tables: [
      {
        title: '4 MB of NDJSON in chunks of 64 KB, events created and not stored',
        columns: ['', 'decode, split, `JSON.parse`', 'Sluice `createTranslator`', 'twice as long'],
        rows,
      },
    ],
    groups,
  };
}

/** Returns the ratio of the fastest runs, measured alternately: garbage collection during a run is random and not growth. */
function measureGrowth(short: () => unknown, long: () => unknown): number {
  let [shortest, longest] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    shortest = Math.min(shortest, measureProcessorTime(short));
    longest = Math.min(longest, measureProcessorTime(long));
  }
  return longest / shortest;
}

function measureProcessorTime(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

function readLines(chunks: readonly Uint8Array[]): number {
  const read = createLineReader();
  let count = 0;
  for (const chunk of chunks) count += read(chunk);
  return count;
}

function translate(engine: LogEngine, chunks: readonly Uint8Array[]): number {
  const translator = createTranslator({ engine, runId: 'bench', attempt: 1, clock: () => 0 });
  let count = 0;
  for (const chunk of chunks) count += translator.push('stdout', chunk).length;
  return count + translator.end({ exitCode: 0, signal: null }).length;
}
