/** A function to be timed; it can return a promise. */
export interface Subject {
  readonly name: string;
  readonly run: () => unknown;
}

/** One subject's time, and its ratio to the first subject's. */
export interface Timing {
  readonly name: string;
  readonly milliseconds: number;
  readonly ratio: number;
}

/** How long to measure. */
export interface Effort {
  readonly rounds: number;
  /** Total milliseconds per subject; a slow subject takes part in fewer rounds. */
  readonly budget: number;
}

/** A shorter sample would be mostly noise, so the subject runs multiple times per sample. */
const MIN_SAMPLE_MS = 4;
const MAX_WARM_UP_MS = 400;
const MIN_ROUNDS = 3;

interface Entry {
  readonly subject: Subject;
  readonly repeats: number;
  readonly samples: number[];
  spentMs: number;
}

/**
 * Times subjects side by side: in every round each runs once, so other load affects all of them. The ratio is the
 * median of the rounds' ratios to the first subject.
 */
export async function compare(
  subjects: readonly Subject[],
  effort: Effort = { rounds: 25, budget: 4000 },
): Promise<Timing[]> {
  const entries: Entry[] = [];
  for (const subject of subjects)
    entries.push({ subject, repeats: await warmUp(subject, effort), samples: [], spentMs: 0 });
  for (let round = 0; round < effort.rounds; round++) {
    for (const entry of entries) {
      if (round >= MIN_ROUNDS && entry.spentMs > effort.budget) continue;
      const elapsed = await time(entry.subject, entry.repeats);
      entry.samples.push(elapsed / entry.repeats);
      entry.spentMs += elapsed;
    }
  }
  const [base] = entries;
  return entries.map(({ subject, samples }) => ({
    name: subject.name,
    milliseconds: median(samples),
    ratio: median(
      samples
        .map((sample, round) => sample / (base?.samples[round] ?? Number.NaN))
        .filter((ratio) => !Number.isNaN(ratio)),
    ),
  }));
}

/** Lets the engine compile hot code, and returns the number of runs per sample. */
async function warmUp(subject: Subject, effort: Effort): Promise<number> {
  const until = Math.min(MAX_WARM_UP_MS, effort.budget / 10);
  let spentMs = 0;
  let last = 0;
  let repeats = 1;
  while (spentMs < until) {
    last = (await time(subject, repeats)) / repeats;
    spentMs += last * repeats;
    repeats = Math.max(1, Math.min(repeats * 2, Math.ceil(MIN_SAMPLE_MS / Math.max(last, 1e-6))));
  }
  return Math.max(1, Math.ceil(MIN_SAMPLE_MS / Math.max(last, 1e-6)));
}

/**
 * Measures the whole process's processor time, including garbage collection: elapsed time would include other
 * processes.
 */
async function time(subject: Subject, repeats: number): Promise<number> {
  const start = process.cpuUsage();
  for (let count = 0; count < repeats; count++) {
    const result = subject.run();
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Returns the median. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the resident memory in bytes, after a garbage collection if the process was started with `--expose-gc`. */
export function readResidentMemory(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}
