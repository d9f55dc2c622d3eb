import { getErrorMessage, isSluiceError } from '../base/index.js';
import { readSpan } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import type { FcmpEvent, LogPosition } from '../events/index.js';
import { getPosition, LOG_START } from '../events/index.js';
import type { InboxItem, OrderRecord, RunRecord } from '../records/index.js';
import { openEventPages, openRunFolder } from '../run-folder/index.js';
import type { AttemptMeta, RunFolder } from '../run-folder/index.js';

/** The facts about a run that help to diagnose a problem; the size is limited. */
export interface RunReport {
  readonly id: string;
  /** The record in the store; undefined for a run that was not recorded there. */
  readonly record?: RunRecord | undefined;
  readonly order?: OrderRecord | undefined;
  /** Its inbox items, open and resolved. */
  readonly items: readonly InboxItem[];
  readonly attempts: readonly { readonly attempt: number; readonly meta: AttemptMeta }[];
  /** The first events and the last ones. */
  readonly events: readonly FcmpEvent[];
  /** How many events between them were omitted. */
  readonly omittedEvents: number;
  readonly streams: readonly ReportedStream[];
  /** Why the run folder could not be read. */
  readonly problem?: string | undefined;
}

/** The end of a stream. */
export interface ReportedStream {
  readonly name: string;
  readonly text: string;
  /** How many bytes before `text` were omitted. */
  readonly omittedBytes: number;
}

/** How much of a run is reported; the run folder has everything. */
const EVENTS_AT_EACH_END = 500;
const MAX_ATTEMPTS = 10;
const MAX_STREAM_BYTES = 128 * 1024;
const PAGE_SIZE = 500;

/** Completes a report with the content of the run folder; if it cannot be read, the report has only the data of the store. */
export async function gatherReport(
  run: string | (() => Promise<RunFolder>),
  stored: Pick<RunReport, 'id' | 'record' | 'order' | 'items'>,
): Promise<RunReport> {
  try {
    const folder = typeof run === 'string' ? await openRunFolder(run) : await run();
    const numbers = (await folder.attempts()).slice(-MAX_ATTEMPTS);
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
    return { ...stored, attempts, ...(await readEvents(folder)), streams };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return { ...stored, attempts: [], events: [], omittedEvents: 0, streams: [], problem: getErrorMessage(error) };
  }
}

async function readEvents(folder: RunFolder): Promise<Pick<RunReport, 'events' | 'omittedEvents'>> {
  const pages = openEventPages(folder, 'fcmp');
  const first: FcmpEvent[] = [];
  let last: FcmpEvent[] = [];
  let omitted = 0;
  let after: LogPosition = LOG_START;
  for (;;) {
    const page = await pages.read({ after, limit: PAGE_SIZE });
    for (const emitted of page) {
      if (emitted.protocol !== 'fcmp') continue;
      if (first.length < EVENTS_AT_EACH_END) first.push(emitted.event);
      else last.push(emitted.event);
    }
    omitted += Math.max(0, last.length - EVENTS_AT_EACH_END);
    last = last.slice(-EVENTS_AT_EACH_END);
    const end = page.at(-1);
    if (end === undefined) return { events: [...first, ...last], omittedEvents: omitted };
    after = getPosition(end);
  }
}

async function readEnd(handle: ReadableFile | undefined): Promise<Omit<ReportedStream, 'name'> | undefined> {
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, MAX_STREAM_BYTES);
    const omittedBytes = size - length;
    return { text: new TextDecoder().decode(await readSpan(handle, omittedBytes, length)), omittedBytes };
  } finally {
    await handle.close();
  }
}
