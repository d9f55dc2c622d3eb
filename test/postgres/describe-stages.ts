import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { STAGES, type Stage } from './fixtures/record-stages.js';

/** When an order was submitted, and when its waiting caller noticed that it was settled. */
export interface OrderTimes {
  readonly issueRef: string;
  /** The name of its run folder. */
  readonly run: string;
  readonly from: number;
  readonly submitted: number;
  readonly noticed: number;
}

/** The stages and their boundaries. `settled` to `delivered` comes after the settlement and is not part of its time. */
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
} as const satisfies Readonly<Record<string, readonly [StageBoundary, StageBoundary]>>;

/** The first and the last file that the agent creates. */
const AGENT_MARKERS = ['began', 'ended'] as const;

type StageBoundary = Stage | (typeof AGENT_MARKERS)[number] | 'from' | 'submitted' | 'noticed';

/** Lists the median duration of each stage in milliseconds, over the orders where both boundaries were recorded. */
export async function describeStages(
  orders: readonly OrderTimes[],
  lines: readonly string[],
  data: string,
): Promise<string> {
  const timesByIssue = new Map<string, Map<StageBoundary, number>>();
  for (const { issueRef, run, from, submitted, noticed } of orders) {
    const orderTimes = new Map<StageBoundary, number>(
      Object.entries({ from, submitted, noticed }) as [StageBoundary, number][],
    );
    for (const marker of AGENT_MARKERS) {
      // Workers over HTTPS have other data folders.
      const stats = await stat(join(data, 'runs', run, marker)).catch(() => undefined);
      if (stats !== undefined) orderTimes.set(marker, stats.mtimeMs);
    }
    timesByIssue.set(issueRef, orderTimes);
  }
  for (const line of lines) {
    const [issueRef = '', stage = '', at = ''] = line.split(' ');
    const recordedStage = STAGES.find((name) => name === stage);
    if (recordedStage !== undefined) timesByIssue.get(issueRef)?.set(recordedStage, Number(at));
  }
  const spans = Object.entries(SPANS).flatMap(([name, [start, end]]) => {
    const durations = [...timesByIssue.values()].flatMap((orderTimes) => {
      const [first, last] = [orderTimes.get(start), orderTimes.get(end)];
      return first === undefined || last === undefined ? [] : [last - first];
    });
    return durations.length === 0 ? [] : [`${name} ${findMedian(durations).toFixed(1)}`];
  });
  return spans.join(', ');
}

function findMedian(durations: readonly number[]): number {
  return durations.toSorted((a, b) => a - b)[durations.length >> 1] ?? Number.NaN;
}
