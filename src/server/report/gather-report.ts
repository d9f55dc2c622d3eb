import { getErrorMessage, isSluiceError, type OpenFile } from '../../base/index.js';
import type { FcmpEvent } from '../../events/index.js';
import type { InboxItem, OrderRecord, RunRecord } from '../../store/records/index.js';
import { readEnd, readRunEvents, type AttemptMeta, type RunFolder } from '../../runs/run-folder/index.js';

/** Facts about a run that help diagnose a problem, limited in size. */
export interface RunReport {
  readonly id: string;
  /** The record in the store; undefined for a run not recorded there. */
  readonly record?: RunRecord | undefined;
  readonly order?: OrderRecord | undefined;
  readonly items: readonly InboxItem[];
  /** The last attempts. */
  readonly attempts: readonly { readonly attempt: number; readonly meta: AttemptMeta }[];
  /** The number of omitted earlier attempts, including their streams. */
  readonly omittedAttempts: number;
  /** The first and the last events. */
  readonly events: readonly FcmpEvent[];
  /** The number of omitted events between them. */
  readonly omittedEvents: number;
  readonly streams: readonly ReportedStream[];
  /** Why the run folder could not be read. */
  readonly problem?: string | undefined;
}

export interface ReportedStream {
  readonly name: string;
  readonly text: string;
  /** The number of omitted bytes before `text`. */
  readonly omittedBytes: number;
}

/** How much of a run is reported; the run folder contains everything. */
const EVENTS_AT_EACH_END = 500;
const MAX_ATTEMPTS = 10;
const MAX_STREAM_BYTES = 128 * 1024;

export const MAX_SECRET_LENGTH = 64 * 1024;

/** The run folder, and the secrets that must not be in the report. */
export interface ReportSource {
  readonly openFolder: () => Promise<RunFolder>;
  /** Replaces secrets without changing the number of bytes. */
  readonly mask: (bytes: Uint8Array) => Uint8Array;
}

/** Completes a report with the run folder's content, if that can be read. `renderHtml` masks all but the streams. */
export async function gatherReport(
  { openFolder, mask }: ReportSource,
  stored: Pick<RunReport, 'id' | 'record' | 'order' | 'items'>,
): Promise<RunReport> {
  try {
    const folder = await openFolder();
    const allNumbers = await folder.attempts();
    const numbers = allNumbers.slice(-MAX_ATTEMPTS);
    const attempts = await Promise.all(
      numbers.map(async (attempt) => ({ attempt, meta: await folder.meta(attempt).catch(() => ({})) })),
    );
    const streams: ReportedStream[] = [];
    for (const attempt of numbers) {
      for (const stream of ['stdin', 'stdout', 'stderr', 'pty'] as const) {
        const end = await readStreamEnd(async () => folder.openAttempt(stream, attempt), mask);
        if (end !== undefined) streams.push({ name: `${stream} of attempt ${attempt}`, ...end });
      }
    }
    const omittedAttempts = allNumbers.length - numbers.length;
    return { ...stored, attempts, omittedAttempts, ...(await readEvents(folder)), streams };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    const nothing = { attempts: [], omittedAttempts: 0, events: [], omittedEvents: 0, streams: [] };
    return { ...stored, ...nothing, problem: getErrorMessage(error) };
  }
}

async function readEvents(folder: RunFolder): Promise<Pick<RunReport, 'events' | 'omittedEvents'>> {
  const first: FcmpEvent[] = [];
  let last: FcmpEvent[] = [];
  let omitted = 0;
  for await (const { protocol, event } of readRunEvents(folder, 'fcmp')) {
    if (protocol !== 'fcmp') continue;
    if (first.length < EVENTS_AT_EACH_END) first.push(event);
    else last.push(event);
    if (last.length < 2 * EVENTS_AT_EACH_END) continue;
    last = last.slice(-EVENTS_AT_EACH_END);
    omitted += EVENTS_AT_EACH_END;
  }
  omitted += Math.max(0, last.length - EVENTS_AT_EACH_END);
  return { events: [...first, ...last.slice(-EVENTS_AT_EACH_END)], omittedEvents: omitted };
}

async function readStreamEnd(open: OpenFile, mask: ReportSource['mask']) {
  // A secret can start before the reported part: if masked after truncation, its second half would stay readable.
  const end = await readEnd(open, MAX_STREAM_BYTES + MAX_SECRET_LENGTH);
  if (end === undefined) return undefined;
  const omittedBytes = Math.max(0, end.size - MAX_STREAM_BYTES);
  return { text: new TextDecoder().decode(mask(end.bytes).subarray(-MAX_STREAM_BYTES)), omittedBytes };
}
