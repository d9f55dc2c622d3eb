import { deflateSync, inflateSync } from 'node:zlib';
import { comparePositions, getPosition, packEvents, unpackEvents } from '../events/index.js';
import type { Emitted, EventPack } from '../events/index.js';
import type { EventRange } from './ports/index.js';
import { containsNul, createColumnError, createNulError } from './store-error.js';

/** A row of `event_packs`: events of one run, protocol and attempt with consecutive numbers. */
export interface EventRow extends EventPack {
  readonly runId: string;
  /** The worker that must hold the run when the row is written; any by default. */
  readonly heldBy?: string | undefined;
}

/** Rejects an id that databases reject here, before it is written with rows of other runs. */
export function toRows(runId: string, packs: readonly EventPack[], heldBy?: string): EventRow[] {
  if (containsNul(runId) || (heldBy !== undefined && containsNul(heldBy))) throw createNulError();
  return packs.map((pack) => ({ runId, ...pack, heldBy }));
}

/** With larger rows, reading one event would decode too many others. */
const MAX_EVENTS = 2048;
const MAX_CHARACTERS = 256 * 1024;

/** Joins consecutive rows, so runs that append often have few rows. Of duplicate events, the first counts. */
export function joinRows(rows: readonly EventRow[]): EventRow[] {
  const joined = new Map<string, EventRow[]>();
  for (const row of rows) {
    // No store accepts an id with NUL.
    const key = `${row.protocol} ${row.attempt} ${row.runId}\0${row.heldBy ?? '\0'}`;
    const runRows = joined.get(key) ?? [];
    joined.set(key, runRows);
    const isFresh = runRows.every(({ firstSeq, lastSeq }) => firstSeq > row.lastSeq || lastSeq < row.firstSeq);
    for (const part of isFresh ? [row] : subtractStored(row, runRows)) addRow(runRows, part);
  }
  return [...joined.values()].flat();
}

function addRow(rows: EventRow[], row: EventRow): void {
  const last = rows.at(-1);
  if (last === undefined || !canJoin(last, row)) rows.push(row);
  else rows[rows.length - 1] = { ...last, lastSeq: row.lastSeq, lines: last.lines + row.lines };
}

function canJoin(first: EventRow, second: EventRow): boolean {
  return (
    second.firstSeq === first.lastSeq + 1 &&
    second.lastSeq - first.firstSeq < MAX_EVENTS &&
    first.lines.length + second.lines.length <= MAX_CHARACTERS
  );
}

/** Returns the part of a row that is not stored yet, as rows. */
export function subtractStored(row: EventRow, stored: readonly Pick<EventRow, 'firstSeq' | 'lastSeq'>[]): EventRow[] {
  const isStored = ({ event: { seq } }: Emitted): boolean =>
    stored.some(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
  const events = unpackEvents(row.protocol, row.lines)?.filter((emitted) => !isStored(emitted)) ?? [];
  return toRows(row.runId, packEvents(events), row.heldBy);
}

/**
 * Text that most events contain. With this dictionary, a row with one event is compressed to a third of its size,
 * otherwise to two thirds. It is part of the storage format: rows written with it cannot be read without it.
 */
const DICTIONARY = Buffer.from(
  `"output":"","input":{"command":"","exit_code":0,"status":"completed","name":"assistant.reasoning"assistant.tool_call"lifecycle.run.status","category":"lifecycle","category":"diagnostic","type":"diagnostic.parser.warning"},"data":{"code":"","message":"tool.call.completed"tool.call.started"raw.stdout"agent.message.final"assistant.message.final"` +
    `","meta":{"attempt":1,"confidence":0.6},"correlation":{"session_id":"","tool_call_id":"","message_id":"m_1_1"},"raw_ref":null}\n` +
    `{"protocol_version":"fcmp/1.1","run_id":"01K","seq":1,"ts":"2026-11-15T06:00:00.000Z","engine":"generic","type":"assistant.message.delta","data":{"message_id":"m_1_1","text":"` +
    `{"protocol_version":"rasp/1.1","run_id":"01K","attempt_number":1,"seq":1,"ts":"2026-11-15T06:00:00.000Z","source":{"engine":"generic","parser":"generic_text","parser_version":"1","confidence":1},"event":{"category":"agent","type":"agent.message.delta"},"data":{"message_id":"m_1_1","text":""},"correlation":{"message_id":"m_1_1"},"raw_ref":{"attempt_number":1,"stream":"stdout","byte_from":0,"byte_to":0,"encoding":"utf-8"}}\n`,
);

/** Compressing shorter rows is not worth the time. */
export const MIN_COMPRESSED_LENGTH = 256;
/** The threshold for rows that are sent to a server or written in large batches, where time matters more than space. */
export const MIN_SENT_COMPRESSED_LENGTH = 2048;
/** Level 3 is hardly slower than the fastest level. */
const OPTIONS = { level: 3, dictionary: DICTIONARY };
/** Most rows are small. For these, setting up 256 KB of tables would take most of the time. */
const SMALL_BYTES = 4096;
const SMALL_ROW_OPTIONS = { ...OPTIONS, windowBits: 12, memLevel: 4, chunkSize: 2048 };

/** The first byte of a JSON object; compressed data starts with a different byte. */
const PLAIN = 0x7b;

/** Encodes a row's lines for the store: compressed, or as plain text if they are short. */
export function encodeBody(lines: string, minLength = MIN_COMPRESSED_LENGTH): Uint8Array {
  const plain = Buffer.from(lines);
  if (plain.length < minLength) return plain;
  return deflateSync(plain, plain.length > SMALL_BYTES ? OPTIONS : SMALL_ROW_OPTIONS);
}

/** Decodes a stored row into its events and the length of its text. */
function decodeBody(
  protocol: Emitted['protocol'],
  body: unknown,
): { readonly events: readonly Emitted[]; readonly size: number } {
  if (!(body instanceof Uint8Array)) throw createColumnError('body');
  let lines: string;
  try {
    lines = Buffer.from(body[0] === PLAIN ? body : inflate(body)).toString();
  } catch (error) {
    throw createColumnError('body', error);
  }
  const events = unpackEvents(protocol, lines);
  if (events === undefined) throw createColumnError('body');
  return { events, size: lines.length };
}

/** A row that inflates to more is corrupted. The limit is high, because a single event can be large. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;

function inflate(body: Uint8Array): Uint8Array {
  return inflateSync(body, { dictionary: DICTIONARY, maxOutputLength: MAX_BODY_BYTES });
}

/** The maximum number of rows read for one page. */
export const ROWS_PER_PAGE = 256;
/** A page ends after this many characters, because a single event can have megabytes. */
export const CHARACTERS_PER_PAGE = 4 * 1024 * 1024;

/** Reads a page of events from stored rows, one row at a time, so no more rows are read than needed. */
export function readEventPage(
  bodies: Iterable<unknown>,
  protocol: Emitted['protocol'],
  { after, to, limit }: EventRange,
): Emitted[] {
  const page: Emitted[] = [];
  let total = 0;
  for (const body of bodies) {
    const { events, size } = decodeBody(protocol, body);
    for (const emitted of events) {
      const position = getPosition(emitted);
      if (comparePositions(position, after) <= 0) continue;
      if (comparePositions(position, to) > 0 || page.length >= limit) return page;
      page.push(emitted);
    }
    total += size;
    if (page.length >= limit || total >= CHARACTERS_PER_PAGE) break;
  }
  return page;
}
