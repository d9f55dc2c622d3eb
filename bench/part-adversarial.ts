import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ADVERSARIAL_INPUTS, MORE_ADVERSARIAL_INPUTS, type AdversarialInput } from './adversarial-inputs.js';
import { compare } from './measure.js';
import { formatMs, formatRatio, type PartResult, type Target } from './part-result.js';
import { createJsonStream, fromJsonSchema, parse, repairJson } from './product.js';

const LIMIT = 2.3;
/** Milliseconds. */
const SLOW = 200;
const MAX_ATTEMPTS = 3;
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

const schema = fromJsonSchema({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });

/** The functions that parse a malicious input; each returns its outcome as a word. */
const PARSERS: readonly { readonly name: string; readonly run: (text: string) => string }[] = [
  { name: 'parse', run: (text) => describeOutcome(parse(text)) },
  { name: 'allowPartial', run: (text) => describeOutcome(parse(text, undefined, { allowPartial: true })) },
  { name: 'schema', run: (text) => describeOutcome(parse(text, schema)) },
  { name: 'repairJson', run: (text) => describeRepair(text) },
  { name: 'align', run: (text) => describeOutcome(parse(text, schema, { align: true, allowPartial: true })) },
  { name: 'stream', run: (text) => describeOutcome(streamText(text)) },
];

/** Measures malicious input: the outcome must always be a value or a typed error, in linear time. */
export async function runAdversarial(): Promise<PartResult> {
  const targets: Target[] = [];
  const rows: string[][] = [];
  for (const input of [...ADVERSARIAL_INPUTS, ...MORE_ADVERSARIAL_INPUTS]) {
    console.error(`  ${input.name}`);
    const row = [formatCode(input.name)];
    // Valid input is also parsed by `JSON.parse`, whose time can grow faster.
    const base = input.depth === undefined ? 0 : (await measure(input, parseStrictly)).growth;
    const limit = Math.max(LIMIT, base);
    for (const way of PARSERS) {
      const { outcome, growth, time } = await measureRepeatedly(input, way.run, limit);
      row.push(`${outcome}, ${formatMs(time)}, ${formatRatio(growth)}`);
      targets.push({
        what: `${input.name}: ${way.name}`,
        limit: `≤ ${formatRatio(limit)} the time a doubling${base > LIMIT ? ', as JSON.parse' : ''}`,
        measured: formatRatio(growth),
        met: growth <= limit && outcome !== 'CRASH',
      });
    }
    rows.push(row);
  }
  for (const input of ADVERSARIAL_INPUTS.filter(({ depth }) => depth !== undefined))
    targets.push(runThroughCommand(input));
  return {
    title: 'Adversarial input',
    targets: summarize(targets),
    tables: [
      {
        title:
          'Sluice: outcome, time, and how the time grows with each doubling of the input (mean of three doublings)',
        columns: ['', ...PARSERS.map(({ name }) => name)],
        rows,
      },
    ],
    groups: [],
  };
}

interface Measured {
  readonly outcome: string;
  readonly growth: number;
  readonly time: number;
}

/**
 * Measures how the time grows with each doubling, from a quarter of the size to twice the size: the mean of three
 * doublings, since a single one would be lost in noise. If the full size would be slow, smaller inputs are used, which
 * show quadratic growth too.
 */
async function measure(input: AdversarialInput, run: (text: string) => string): Promise<Measured> {
  let size = input.size / 16;
  while (size < input.size && measureMs(() => run(input.make(size))) < SLOW) size *= 4;
  const texts = [size / 4, size, 2 * size].map((length) => input.make(length));
  const outcome = run(texts[1] ?? '');
  const subjects = texts.map((text, index) => ({ name: String(index), run: () => run(text) }));
  const [, once, largest] = await compare(subjects, { rounds: 9, budget: 800 });
  return { outcome, growth: Math.cbrt(largest?.ratio ?? Number.NaN), time: once?.milliseconds ?? Number.NaN };
}

/**
 * Repeats a measurement that grows too fast: after earlier inputs have filled the heap, garbage collection can
 * temporarily take longer than the input's growth explains. Quadratic time grows too fast in every attempt.
 */
async function measureRepeatedly(
  input: AdversarialInput,
  run: (text: string) => string,
  limit: number,
): Promise<Measured> {
  let best = await measure(input, run);
  for (let attempt = 1; attempt < MAX_ATTEMPTS && best.growth > limit; attempt += 1) {
    const next = await measure(input, run);
    if (next.growth < best.growth) best = next;
  }
  return best;
}

function measureMs(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function describeOutcome(result: ReturnType<typeof parse>): string {
  return result.status === 'failed' ? result.error.code : result.status;
}

function parseStrictly(text: string): string {
  JSON.parse(text);
  return 'success';
}

/** Characters per stream chunk. */
const CHUNK_LENGTH = 4096;

function streamText(text: string): ReturnType<typeof parse> {
  const reading = createJsonStream();
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) reading.push(text.slice(at, at + CHUNK_LENGTH));
  return reading.end();
}

function describeRepair(text: string): string {
  try {
    repairJson(text);
    return 'success';
  } catch (error) {
    return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'CRASH';
  }
}

function runThroughCommand(input: AdversarialInput): Target {
  const what = `${input.name}: sluice parse`;
  const limit = 'LIMIT_EXCEEDED';
  try {
    const printed = execFileSync(process.execPath, [COMMAND, 'parse'], {
      input: input.make(input.size),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    return { what, limit, measured: printed.slice(0, 40), met: false };
  } catch (error) {
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    const found = /"code":\s*"(\w+)"/.exec(printed)?.[1] ?? 'crash';
    return { what, limit, measured: found, met: found === limit };
  }
}

/** Combines all targets that are met into one line; each missed one has its own line. */
function summarize(targets: readonly Target[]): Target[] {
  const missedTargets = targets.filter((target) => !target.met);
  const met = targets.length - missedTargets.length;
  return [
    {
      what: 'adversarial input: an answer or a typed error, linear time',
      limit: `${targets.length} of ${targets.length}`,
      measured: `${met} of ${targets.length}`,
      met: missedTargets.length === 0,
    },
    ...missedTargets,
  ];
}

function formatCode(text: string): string {
  return text.includes('`') ? text : `\`${text}\``;
}
