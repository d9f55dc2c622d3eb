import { Random } from './random.js';

/** One code review finding. */
export interface Finding {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  readonly severity: string;
  readonly message: string;
  readonly tags: readonly string[];
  readonly score: number;
  readonly solved: boolean;
  readonly note: string | null;
  readonly range: { readonly start: number; readonly end: number };
}

/** A finding in its shortest form. */
export type ShortFinding = Pick<Finding, 'id' | 'line'>;

const WORDS = [
  'the', 'parser', 'returns', 'early', 'when', 'a', 'value', 'is', 'missing', 'and', 'callers', 'expect', 'an', 'error',
  'here', 'because', 'this', 'branch', 'never', 'runs', 'after', 'retry', 'so', 'the', 'state', 'stays', 'open', 'until',
] as const; // prettier-ignore
const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
const FOLDERS = ['json', 'events', 'server', 'store', 'cli'] as const;

/** Generates enough findings for `bytes` of JSON, as written by `write`. */
export function makeFindings(
  bytes: number,
  seed: number,
  write: (value: unknown) => string,
): { readonly findings: readonly Finding[] } {
  return { findings: fill(bytes, seed, write, makeFinding) };
}

/** Generates findings with only an id and a line number, as a linter would write them. */
export function makeShortFindings(
  bytes: number,
  seed: number,
  write: (value: unknown) => string,
): { readonly findings: readonly ShortFinding[] } {
  return { findings: fill(bytes, seed, write, (id, random) => ({ id, line: 1 + random.below(400) })) };
}

function fill<T>(
  bytes: number,
  seed: number,
  write: (value: unknown) => string,
  make: (id: number, random: Random) => T,
): T[] {
  const random = new Random(seed);
  const findings: T[] = [];
  let length = write({ findings }).length;
  while (length < bytes) {
    const finding = make(findings.length + 1, random);
    length += write([finding]).length;
    findings.push(finding);
  }
  return findings;
}

function makeFinding(id: number, random: Random): Finding {
  const start = random.below(900);
  return {
    id,
    file: `src/${random.pick(FOLDERS)}/${random.pick(WORDS)}-${random.pick(WORDS)}.ts`,
    line: 1 + random.below(400),
    severity: random.pick(SEVERITIES),
    message: makeMessage(random),
    tags: Array.from({ length: random.below(4) }, () => random.pick(WORDS)),
    score: random.below(1000) / 1000,
    solved: random.chance(0.3),
    note: random.chance(0.5) ? null : makeMessage(random),
    range: { start, end: start + random.below(80) },
  };
}

/** Generates a message; some have a quoted word, some an apostrophe, some a line break. */
function makeMessage(random: Random): string {
  const words = Array.from({ length: 6 + random.below(14) }, (): string => random.pick(WORDS));
  if (random.chance(0.25)) words.splice(2, 1, `"${random.pick(WORDS)}"`);
  if (random.chance(0.2)) words.splice(4, 1, "doesn't");
  if (random.chance(0.15)) words.splice(3, 1, `${random.pick(WORDS)}\n${random.pick(WORDS)}`);
  return `${words.join(' ')}.`;
}
