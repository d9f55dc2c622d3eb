import { getErrorMessage, isSluiceError } from '../base/index.js';
import { readSpan } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import type { FcmpEvent, LogPosition } from '../events/index.js';
import { getPosition, LOG_START } from '../events/index.js';
import type { InboxItem, OrderRecord, RunRecord } from '../records/index.js';
import { openEventPages, openRunFolder } from '../run-folder/index.js';
import type { AttemptMeta, RunFolder } from '../run-folder/index.js';

/** The facts about a run, bounded: enough to understand a problem with it. */
export interface RunReport {
  readonly id: string;
  /** The record in the store; undefined for a run that was not recorded there. */
  readonly record?: RunRecord | undefined;
  readonly order?: OrderRecord | undefined;
  /** Its inbox items, open and settled. */
  readonly items: readonly InboxItem[];
  readonly attempts: readonly { readonly attempt: number; readonly meta: AttemptMeta }[];
  /** The first events and the last ones. */
  readonly events: readonly FcmpEvent[];
  /** How many between them were left out. */
  readonly eventsLeftOut: number;
  readonly streams: readonly ReportedStream[];
  /** Why the run folder could not be read. */
  readonly problem?: string | undefined;
}

/** The end of what a stream held. */
export interface ReportedStream {
  readonly name: string;
  readonly text: string;
  readonly leftOut: number;
}

/** How much of a run is reported; the run folder has everything. */
const EVENTS_AT_EACH_END = 500;
const ATTEMPTS = 10;
const STREAM_BYTES = 128 * 1024;
const PAGE = 500;

/** Reads what a report shows from the run folder; without a folder the report has only what the store knows. */
export async function gatherReport(
  run: string | (() => Promise<RunFolder>),
  known: Pick<RunReport, 'id' | 'record' | 'order' | 'items'>,
): Promise<RunReport> {
  try {
    const folder = typeof run === 'string' ? await openRunFolder(run) : await run();
    const numbers = (await folder.attempts()).slice(-ATTEMPTS);
    const attempts = await Promise.all(
      numbers.map(async (attempt) => ({ attempt, meta: await folder.meta(attempt).catch(() => ({})) })),
    );
    const streams: ReportedStream[] = [];
    for (const attempt of numbers) {
      for (const stream of ['stdin', 'stdout', 'stderr', 'pty'] as const) {
        const read = await readEnd(await folder.openAttempt(stream, attempt));
        if (read !== undefined) streams.push({ name: `${stream} of attempt ${attempt}`, ...read });
      }
    }
    return { ...known, attempts, ...(await readEvents(folder)), streams };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { ...known, attempts: [], events: [], eventsLeftOut: 0, streams: [], problem: getErrorMessage(error) };
  }
}

async function readEvents(folder: RunFolder): Promise<Pick<RunReport, 'events' | 'eventsLeftOut'>> {
  const pages = openEventPages(folder, 'fcmp');
  const first: FcmpEvent[] = [];
  let last: FcmpEvent[] = [];
  let leftOut = 0;
  let after: LogPosition = LOG_START;
  for (;;) {
    const page = await pages.read({ after, limit: PAGE });
    for (const emitted of page) {
      if (emitted.protocol !== 'fcmp') continue;
      if (first.length < EVENTS_AT_EACH_END) first.push(emitted.event);
      else last.push(emitted.event);
    }
    leftOut += Math.max(0, last.length - EVENTS_AT_EACH_END);
    last = last.slice(-EVENTS_AT_EACH_END);
    const end = page.at(-1);
    if (end === undefined) return { events: [...first, ...last], eventsLeftOut: leftOut };
    after = getPosition(end);
  }
}

async function readEnd(handle: ReadableFile | undefined): Promise<Omit<ReportedStream, 'name'> | undefined> {
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, STREAM_BYTES);
    const leftOut = size - length;
    return { text: new TextDecoder().decode(await readSpan(handle, leftOut, length)), leftOut };
  } finally {
    await handle.close();
  }
}
