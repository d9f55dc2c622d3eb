import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from './measure.js';
import { formatMs, formatRatio, type PartResult } from './part-result.js';
import { startRun } from './product.js';

/** The time that a sandbox may add to starting a process. */
const MAX_ADDED_MS = 50;
/** Each start takes tens of milliseconds. */
const EFFORT = { rounds: 25, budget: 20_000 };

const CASES = [
  { name: 'without a sandbox', sandbox: 'off', network: 'host' },
  { name: 'in a sandbox', sandbox: 'required', network: 'host' },
  { name: 'in a sandbox without network', sandbox: 'required', network: 'none' },
  { name: 'in a sandbox with a list of hosts', sandbox: 'required', network: ['api.example.org'] },
] as const;

/** Measures the cost of a sandboxed start: from `startRun` to the result of a command that exits immediately. */
export async function runSandbox(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const timings = await compare(
      CASES.map(({ name, ...options }) => ({ name, run: async () => start(folder, options) })),
      EFFORT,
    );
    const [plain, sandboxed] = timings;
    const addedMs = (sandboxed?.milliseconds ?? Number.NaN) - (plain?.milliseconds ?? Number.NaN);
    return {
      title: 'Sandboxed starts',
      targets: [
        {
          what: 'a start in a sandbox, compared with a plain start',
          limit: `≤ ${MAX_ADDED_MS} ms more`,
          measured: `${formatMs(addedMs)} more`,
          met: addedMs <= MAX_ADDED_MS,
        },
      ],
      tables: [
        {
          title: 'A run of `true`, from its start to its result',
          columns: ['', 'median', 'compared with a plain start'],
          rows: timings.map(({ name, milliseconds: time, ratio }) => [name, formatMs(time), formatRatio(ratio)]),
        },
      ],
      groups: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(folder: string, options: Omit<(typeof CASES)[number], 'name'>): Promise<void> {
  const workdir = await mkdtemp(join(folder, 'work-'));
  const run = startRun({ engine: 'command', command: ['true'], workdir, ...options }, { data: join(folder, 'data') });
  const { status, error } = await run.result;
  if (error !== undefined && error.code !== 'EMPTY_OUTPUT')
    throw new Error(`The run ended as ${status}: ${error.message}`);
}
