import { deflateSync, inflateSync } from 'node:zlib';
import { comparePositions, getPosition, packEvents, unpackEvents } from '../events/index.js';
import type { Emitted, EventPack, LogPosition } from '../events/index.js';
import { holdsNul } from './holds-nul.js';
import { columnDamaged, nulInName } from './store-error.js';

/** A row of `event_packs`: events of one run, protocol and attempt whose numbers have no gaps. */
export interface EventRow extends EventPack {
  readonly runId: string;
}

/** The rows for packs of a run. A name that no database takes is refused here: rows of other runs are written with these. */
export function toRows(runId: string, packs: readonly EventPack[]): EventRow[] {
  if (holdsNul(runId)) throw nulInName();
  return packs.map((pack) => ({ runId, ...pack }));
}

/** Larger rows would make a reader of one event expand too many. */
const MAX_EVENTS = 2048;
const MAX_CHARACTERS = 256 * 1024;

/** Joins rows that follow each other, so that runs that append often have few; of two with the same numbers the first counts. */
export function joinRows(rows: readonly EventRow[]): EventRow[] {
  const joined = new Map<string, EventRow[]>();
  for (const row of rows) {
    const key = `${row.protocol} ${row.attempt} ${row.runId}`;
    const own = joined.get(key) ?? [];
    joined.set(key, own);
    const isFresh = own.every(({ firstSeq, lastSeq }) => firstSeq > row.lastSeq || lastSeq < row.firstSeq);
    for (const part of isFresh ? [row] : subtractStored(row, own)) addRow(own, part);
  }
  return [...joined.values()].flat();
}

function addRow(own: EventRow[], row: EventRow): void {
  const last = own.at(-1);
  if (last === undefined || !areJoinable(last, row)) own.push(row);
  else own[own.length - 1] = { ...last, lastSeq: row.lastSeq, lines: last.lines + row.lines };
}

function areJoinable(first: EventRow, second: EventRow): boolean {
  return (
    second.firstSeq === first.lastSeq + 1 &&
    second.lastSeq - first.firstSeq < MAX_EVENTS &&
    first.lines.length + second.lines.length <= MAX_CHARACTERS
  );
}

/** Numbers of events that are stored already. */
export interface StoredRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Returns the part of a row that is not stored yet, as rows: after a repeated append nothing, or its end. */
export function subtractStored(row: EventRow, stored: readonly StoredRange[]): EventRow[] {
  const isStored = ({ event: { seq } }: Emitted): boolean =>
    stored.some(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
  const events = unpackEvents(row.protocol, row.lines)?.filter((emitted) => !isStored(emitted)) ?? [];
  return toRows(row.runId, packEvents(events));
}

/**
 * Text that every event contains: with this a row of one event is compressed to a third, without it to two thirds. It is
 * part of the storage format: rows that were written with it cannot be read without it.
 */
const DICTIONARY = Buffer.from(
  `"output":"","input":{"command":"","exit_code":0,"status":"completed","name":"assistant.reasoning"assistant.tool_call"lifecycle.run.status","category":"lifecycle","category":"diagnostic","type":"diagnostic.parser.warning"},"data":{"code":"","message":"tool.call.completed"tool.call.started"raw.stdout"agent.message.final"assistant.message.final"` +
    `","meta":{"attempt":1,"confidence":0.6},"correlation":{"session_id":"","tool_call_id":"","message_id":"m_1_1"},"raw_ref":null}\n` +
    `{"protocol_version":"fcmp/1.1","run_id":"01K","seq":1,"ts":"2026-11-15T06:00:00.000Z","engine":"generic","type":"assistant.message.delta","data":{"message_id":"m_1_1","text":"` +
    `{"protocol_version":"rasp/1.1","run_id":"01K","attempt_number":1,"seq":1,"ts":"2026-11-15T06:00:00.000Z","source":{"engine":"generic","parser":"generic_text","parser_version":"1","confidence":1},"event":{"category":"agent","type":"agent.message.delta"},"data":{"message_id":"m_1_1","text":""},"correlation":{"message_id":"m_1_1"},"raw_ref":{"attempt_number":1,"stream":"stdout","byte_from":0,"byte_to":0,"encoding":"utf-8"}}\n`,
);

/** Less is not worth the time. */
export const MIN_COMPRESSED_LENGTH = 256;
/** Where statements are sent to a server, or many rows are written at once, time is scarcer than room. */
export const MIN_SENT_COMPRESSED_LENGTH = 2048;
/** The best level that hardly takes longer than the fastest. */
const OPTIONS = { level: 3, dictionary: DICTIONARY };
/** Most rows are small, and then setting up 256 KB of tables takes most of the time. */
const SMALL = 4096;
const OPTIONS_FOR_SMALL = { ...OPTIONS, windowBits: 12, memLevel: 4, chunkSize: 2048 };

/** The first byte of an object in JSON; compressed data begins with another. */
const PLAIN = 0x7b;

/** The lines of a row in the form in which it is stored: compressed, or as they are if they are short. */
export function encodeBody(lines: string, shortest = MIN_COMPRESSED_LENGTH): Uint8Array {
  const plain = Buffer.from(lines);
  if (plain.length < shortest) return plain;
  return deflateSync(plain, plain.length > SMALL ? OPTIONS : OPTIONS_FOR_SMALL);
}

/** The events of a stored row, and the characters of their lines. */
function decodeBody(
  protocol: Emitted['protocol'],
  body: unknown,
): { readonly events: readonly Emitted[]; readonly size: number } {
  if (!(body instanceof Uint8Array)) throw columnDamaged('body');
  let lines: string;
  try {
    lines = Buffer.from(body[0] === PLAIN ? body : inflate(body)).toString();
  } catch (error) {
    throw columnDamaged('body', error);
  }
  const events = unpackEvents(protocol, lines);
  if (events === undefined) throw columnDamaged('body');
  return { events, size: lines.length };
}

/** A row holds at most one large event, or many small ones. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;

function inflate(body: Uint8Array): Uint8Array {
  return inflateSync(body, { dictionary: DICTIONARY, maxOutputLength: MAX_BODY_BYTES });
}

/** Rows that are read for one page at most. */
export const ROWS_PER_PAGE = 256;
/** A page ends after this much text: a single event may have megabytes. */
export const CHARACTERS_PER_PAGE = 4 * 1024 * 1024;

/** The events of stored rows that belong to a page. The rows come one by one, so that no more are read than needed. */
export function readPage(
  bodies: Iterable<unknown>,
  protocol: Emitted['protocol'],
  { after, to, limit }: { readonly after: LogPosition; readonly to: LogPosition; readonly limit: number },
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
