import { STAGES, type Stage } from './fixtures/record-stages.js';

/** When an order was submitted, and when whoever waits for it knew that it was settled. */
export interface WatchedOrder {
  readonly issueRef: string;
  readonly from: number;
  readonly submitted: number;
  readonly noticed: number;
}

/** What takes the time between two moments. `settled` to `delivered` comes after the settlement and is not part of its time. */
const SPANS = {
  submit: ['from', 'submitted'],
  'wake and claim': ['submitted', 'claimed'],
  prepare: ['claimed', 'started'],
  'run the agent': ['started', 'read'],
  'read and prove': ['read', 'proven'],
  settle: ['proven', 'settled'],
  notice: ['settled', 'noticed'],
  'deliver (afterwards)': ['settled', 'delivered'],
} as const satisfies Readonly<Record<string, readonly [Moment, Moment]>>;

type Moment = Stage | 'from' | 'submitted' | 'noticed';

/** The median duration of each stage in milliseconds, over the orders whose stages were all recorded. */
export function describeStages(orders: readonly WatchedOrder[], lines: readonly string[]): string {
  const moments = new Map(
    orders.map(({ issueRef, from, submitted, noticed }) => [
      issueRef,
      new Map<Moment, number>([
        ['from', from],
        ['submitted', submitted],
        ['noticed', noticed],
      ]),
    ]),
  );
  for (const line of lines) {
    const [issueRef = '', stage = '', at = ''] = line.split(' ');
    const known = STAGES.find((name) => name === stage);
    if (known !== undefined) moments.get(issueRef)?.set(known, Number(at));
  }
  const spans = Object.entries(SPANS).map(([name, [start, end]]) => {
    const times = [...moments.values()].flatMap((of) => {
      const [first, last] = [of.get(start), of.get(end)];
      return first === undefined || last === undefined ? [] : [last - first];
    });
    return `${name} ${findMiddle(times).toFixed(1)}`;
  });
  return spans.join(', ');
}

function findMiddle(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? Number.NaN;
}
