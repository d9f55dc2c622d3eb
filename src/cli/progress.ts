import type { CommandIo } from './command-io.js';
import { makeVisible } from './terminal-text.js';

/** Reports how much is done, and the total if it is known. The speed is measured for each part separately. */
export type SetProgress = (done: number, total?: number, part?: string) => void;

const UPDATE_MS = 200;
/** Shorter commands show no progress. */
const FIRST_MS = 500;
const WIDTH = 79;

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/**
 * Shows progress on stderr while a command works: how much is done, how fast, and how long it will take. Prints nothing
 * if stderr is not a terminal.
 */
export async function withProgress<T>(
  { stderr }: Pick<CommandIo, 'stderr'>,
  { label, unit, clock = Date.now }: { readonly label: string; readonly unit: string; readonly clock?: () => number },
  work: (set: SetProgress) => Promise<T>,
): Promise<T> {
  if (!stderr.isTerminal) return work(() => undefined);
  const startedAt = clock();
  let partStartedAt = startedAt;
  let current: string | undefined;
  let drawnAt: number | undefined;
  try {
    return await work((done, total, part) => {
      const now = clock();
      if (part !== current) partStartedAt = now;
      current = part;
      if (now - startedAt < FIRST_MS || (drawnAt !== undefined && now - drawnAt < UPDATE_MS)) return;
      drawnAt = now;
      const name = part === undefined ? label : `${label} ${part}`;
      const line = makeVisible(`${name}: ${describeProgress({ done, total, ms: now - partStartedAt, unit })}`);
      void stderr.write(`\r\u001B[K${line.slice(0, WIDTH)}`);
    });
  } finally {
    // Clear the line, because results follow.
    if (drawnAt !== undefined) await stderr.write('\r\u001B[K');
  }
}

/**
 * Describes progress in one line.
 *
 * @example
 * describeProgress({ done: 50, total: 200, ms: 1000, unit: 'cases' }) // '50 of 200 cases, 50/s, 3 s left'
 */
export function describeProgress({
  done,
  total,
  ms,
  unit,
}: {
  readonly done: number;
  readonly total?: number | undefined;
  readonly ms: number;
  readonly unit: string;
}): string {
  const perSecond = (done * 1000) / Math.max(ms, 1);
  const format = (amount: number): string => (unit === 'bytes' ? formatBytes(amount) : formatCount(amount));
  const name = unit === 'bytes' ? '' : ` ${unit}`;
  const amount = total === undefined ? format(done) : `${format(done)} of ${format(total)}`;
  const secondsLeft = total === undefined || perSecond === 0 ? undefined : Math.max(0, total - done) / perSecond;
  return `${amount}${name}, ${format(perSecond)}/s${secondsLeft === undefined ? '' : `, ${formatSeconds(secondsLeft)} left`}`;
}

function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  const format = (): string => (unit === 0 ? String(Math.round(amount)) : amount.toFixed(1));
  // The rounded amount decides: 999,999 bytes are 1.0 MB, not 1000.0 kB.
  while (Number(format()) >= 1000 && unit < BYTE_UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${format()} ${BYTE_UNITS[unit] ?? ''}`;
}

function formatCount(amount: number): string {
  return (amount >= 10 || Number.isInteger(amount) ? Math.round(amount) : amount.toFixed(1)).toLocaleString('en-US');
}

function formatSeconds(seconds: number): string {
  const totalSeconds = Math.ceil(seconds);
  if (totalSeconds < 60) return `${totalSeconds} s`;
  const minutes = Math.floor(totalSeconds / 60);
  if (minutes < 60) return `${minutes} min ${totalSeconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
