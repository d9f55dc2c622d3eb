import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare } from './measure.js';
import { milliseconds, times, type PartResult } from './part-result.js';
import { startRun } from './product.js';

/** The time that a sandbox may add to the start of a program. */
const MAX_ADDED_MS = 50;
/** Each start takes a fair part of a tenth of a second. */
const EFFORT = { rounds: 25, budget: 20_000 };

const WAYS = [
  { name: 'without a sandbox', sandbox: 'off', network: 'host' },
  { name: 'in a sandbox', sandbox: 'required', network: 'host' },
  { name: 'in a sandbox without network', sandbox: 'required', network: 'none' },
  { name: 'in a sandbox with a list of hosts', sandbox: 'required', network: ['api.example.org'] },
] as const;

/** Measures what a sandboxed start costs: from `startRun` to the result of a program that ends at once. */
export async function runSandbox(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const timings = await compare(
      WAYS.map(({ name, ...way }) => ({ name, run: async () => start(folder, way) })),
      EFFORT,
    );
    const [plain, boxed] = timings;
    const more = (boxed?.milliseconds ?? Number.NaN) - (plain?.milliseconds ?? Number.NaN);
    return {
      title: 'Sandboxed starts',
      targets: [
        {
          what: 'a start in a sandbox, against one without',
          limit: `≤ ${MAX_ADDED_MS} ms more`,
          measured: `${milliseconds(more)} more`,
          met: more <= MAX_ADDED_MS,
        },
      ],
      tables: [
        {
          title: 'A run of `true`, from its start to its result',
          columns: ['', 'median', 'against a plain start'],
          rows: timings.map(({ name, milliseconds: time, ratio }) => [name, milliseconds(time), times(ratio)]),
        },
      ],
      groups: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(folder: string, way: Omit<(typeof WAYS)[number], 'name'>): Promise<void> {
  const workdir = await mkdtemp(join(folder, 'work-'));
  const run = startRun({ engine: 'command', command: ['true'], workdir, ...way }, { data: join(folder, 'data') });
  const { status, error } = await run.result;
  if (error !== undefined && error.code !== 'EMPTY_OUTPUT')
    throw new Error(`the run ended as ${status}: ${error.message}`);
}
