import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { STAGES, type Stage } from './fixtures/record-stages.js';

/** The times when an order was submitted, and when its waiting caller noticed that it was settled. */
export interface WatchedOrder {
  readonly issueRef: string;
  /** Names its folder. */
  readonly run: string;
  readonly from: number;
  readonly submitted: number;
  readonly noticed: number;
}

/** The stages between two times. `settled` to `delivered` follows the settlement and is not part of its time. */
const SPANS = {
  submit: ['from', 'submitted'],
  'wake and claim': ['submitted', 'claimed'],
  prepare: ['claimed', 'started'],
  'launch the agent': ['started', 'began'],
  'the agent itself': ['began', 'ended'],
  'end its run': ['ended', 'read'],
  'read and prove': ['read', 'proven'],
  settle: ['proven', 'settled'],
  notice: ['settled', 'noticed'],
  'deliver (afterwards)': ['settled', 'delivered'],
} as const satisfies Readonly<Record<string, readonly [Moment, Moment]>>;

/** The first and the last file that the agent of the campaign creates. */
const MARKS = ['began', 'ended'] as const;

type Moment = Stage | (typeof MARKS)[number] | 'from' | 'submitted' | 'noticed';

/** Computes the median duration of each stage in milliseconds, over the orders with all stages recorded. */
export async function describeStages(
  orders: readonly WatchedOrder[],
  lines: readonly string[],
  data: string,
): Promise<string> {
  const moments = new Map<string, Map<Moment, number>>();
  for (const { issueRef, run, from, submitted, noticed } of orders) {
    const known = new Map<Moment, number>(Object.entries({ from, submitted, noticed }) as [Moment, number][]);
    for (const mark of MARKS) known.set(mark, (await stat(join(data, 'runs', run, mark))).mtimeMs);
    moments.set(issueRef, known);
  }
  for (const line of lines) {
    const [issueRef = '', stage = '', at = ''] = line.split(' ');
    const known = STAGES.find((name) => name === stage);
    if (known !== undefined) moments.get(issueRef)?.set(known, Number(at));
  }
  const spans = Object.entries(SPANS).map(([name, [start, end]]) => {
    const times = [...moments.values()].flatMap((known) => {
      const [first, last] = [known.get(start), known.get(end)];
      return first === undefined || last === undefined ? [] : [last - first];
    });
    return `${name} ${findMedian(times).toFixed(1)}`;
  });
  return spans.join(', ');
}

function findMedian(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? Number.NaN;
}
