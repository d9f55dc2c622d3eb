import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentLog } from './agent-log.js';
import { createLineReader } from './line-reader.js';
import { median, readResidentMemory } from './measure.js';
import { formatRatio, type PartResult, type Target } from './part-result.js';
import { startRun } from './product.js';

const MEBIBYTE = 1024 * 1024;
const PRODUCER = fileURLToPath(new URL('./producer.mjs', import.meta.url));
const BYTES_PER_SECOND = 10 * MEBIBYTE;
const LOG_BYTES = 4 * MEBIBYTE;
const MAX_RATIO = 1.05;
const ROUNDS = 3;
const CONCURRENT_RUNS = 200;
/** Allowed difference in memory between two batches of runs, for uncollected garbage. */
const MAX_GROWTH_BYTES = 64_000_000;

/**
 * Measures the cost of running an agent through Sluice: compared with the bare process, with many concurrent runs, and
 * in memory.
 */
export async function runRuns(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const log = await writeLog(folder, 'long.ndjson', LOG_BYTES);
    const pacedSeconds = await timePaced(folder, log);
    const unpacedSeconds = await timeUnpaced(folder, log);
    const together = await runConcurrently(folder);
    return {
      title: 'Runs',
      targets: [pacedSeconds.target, together.target, together.memory],
      tables: [
        {
          title: 'One agent that prints lines of 2 KB',
          columns: ['', 'bare', 'through `startRun`', 'ratio'],
          rows: [pacedSeconds.row, unpacedSeconds.row],
        },
      ],
      groups: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function timePaced(folder: string, log: string): Promise<{ readonly target: Target; readonly row: string[] }> {
  const env = { BENCH_LOG: log, BENCH_TIMES: '8', BENCH_RATE: String(BYTES_PER_SECOND) };
  const bare: number[] = [];
  const own: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await measureSeconds(async () => drainBare(env, (chunk) => chunk.length)));
    own.push(await measureSeconds(async () => follow(folder, env)));
  }
  const ratio = median(own) / median(bare);
  return {
    target: {
      what: 'a producer paced at 10 MiB/s, 32 MiB',
      limit: `≤ ${MAX_RATIO} × bare`,
      measured: formatRatio(ratio),
      met: ratio <= MAX_RATIO,
    },
    row: [
      '32 MiB, paced at 10 MiB/s',
      `${median(bare).toFixed(2)} s`,
      `${median(own).toFixed(2)} s`,
      formatRatio(ratio),
    ],
  };
}

/** Compares with a minimal NDJSON reader, which decodes, splits and parses. */
async function timeUnpaced(folder: string, log: string): Promise<{ readonly row: string[] }> {
  const env = { BENCH_LOG: log, BENCH_TIMES: '16' };
  const bytes = 16 * LOG_BYTES;
  const bare: number[] = [];
  const own: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await measureSeconds(async () => drainBare(env, createLineReader())));
    own.push(await measureSeconds(async () => follow(folder, env)));
  }
  const rate = (time: number): string => `${Math.round(bytes / MEBIBYTE / time)} MiB/s`;
  return { row: ['64 MiB, unpaced', rate(median(bare)), rate(median(own)), formatRatio(median(own) / median(bare))] };
}

async function runConcurrently(folder: string): Promise<{ readonly target: Target; readonly memory: Target }> {
  const log = await writeLog(folder, 'short.ndjson', 64 * 1024);
  const env = { BENCH_LOG: log, BENCH_TIMES: '2' };
  const first = await runBatch(folder, env);
  const early = readResidentMemory();
  const second = await runBatch(folder, env);
  const grownBytes = readResidentMemory() - early;
  const complete = [...first, ...second].filter((count) => count === first[0]).length;
  return {
    target: {
      what: `${CONCURRENT_RUNS} concurrent runs, twice`,
      limit: 'every event of every run, in order',
      measured: `${complete} of ${2 * CONCURRENT_RUNS} runs complete, ${first[0] ?? 0} events each`,
      met: complete === 2 * CONCURRENT_RUNS && (first[0] ?? 0) > 0,
    },
    memory: {
      what: `memory after the second ${CONCURRENT_RUNS} runs, compared with the first`,
      limit: `≤ ${MAX_GROWTH_BYTES / 1e6} MB more`,
      measured: `${Math.round(grownBytes / 1e6)} MB`,
      met: grownBytes <= MAX_GROWTH_BYTES,
    },
  };
}

/** Returns each run's number of FCMP events; 0 for a run with a gap in its sequence numbers. */
async function runBatch(folder: string, env: Readonly<Record<string, string>>): Promise<number[]> {
  return Promise.all(Array.from({ length: CONCURRENT_RUNS }, async () => follow(folder, env)));
}

async function follow(folder: string, env: Readonly<Record<string, string>>): Promise<number> {
  const workdir = await mkdtemp(join(folder, 'work-'));
  const run = startRun(
    // The log is outside the folder that a sandbox exposes; part x measures the cost of a sandbox.
    { engine: 'codex', prompt: 'print', workdir, env: ['BENCH_*'], sandbox: 'off' },
    { data: join(folder, 'data'), programs: { codex: PRODUCER }, environment: { ...process.env, ...env } },
  );
  let last = 0;
  let isComplete = true;
  for await (const { protocol, event } of run.events) {
    if (protocol !== 'fcmp') continue;
    isComplete &&= event.seq === last + 1;
    last = event.seq;
  }
  const { status, error } = await run.result;
  if (status !== 'success') throw new Error(`The run ended as ${status}: ${error?.message ?? ''}`);
  return isComplete ? last : 0;
}

async function drainBare(
  env: Readonly<Record<string, string>>,
  onChunk: (chunk: Uint8Array) => unknown,
): Promise<void> {
  const child = spawn(PRODUCER, [], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  for await (const chunk of child.stdout) onChunk(chunk as Uint8Array);
}

async function writeLog(folder: string, name: string, bytes: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, createAgentLog('codex', 'ASCII', 2000, bytes));
  return path;
}

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
