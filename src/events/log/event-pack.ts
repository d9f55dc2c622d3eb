import type { Emitted } from '../protocol/translator-output.js';
import { decodeLine, encodeLines } from './series.js';
import { SluiceError } from '../../base/index.js';

export interface LogPosition {
  /** 0 for FCMP, whose numbers continue across attempts. */
  readonly attempt: number;
  readonly seq: number;
}

/** The position before the first event. */
export const LOG_START: LogPosition = { attempt: 0, seq: 0 };

/** The position after any possible event; databases can store it as an ordinary integer. */
export const LOG_END: LogPosition = { attempt: 2_147_483_647, seq: 2_147_483_647 };

export function getPosition({ protocol, event }: Emitted): LogPosition {
  return protocol === 'rasp' ? { attempt: event.attempt_number, seq: event.seq } : { attempt: 0, seq: event.seq };
}

/** Parses a position such as `17`, or `1:17` for RASP; throws `INVALID_POSITION` otherwise. */
export function readPosition(protocol: Emitted['protocol'], position: string | number): LogPosition {
  const [, attempt, seq] = /^(?:([0-9]{1,9}):)?([0-9]{1,9})$/.exec(String(position)) ?? [];
  if (seq !== undefined && (attempt === undefined) === (protocol === 'fcmp')) {
    return { attempt: Number(attempt ?? 0), seq: Number(seq) };
  }
  const format = protocol === 'fcmp' ? 'a number such as 17' : 'attempt and number such as 1:17';
  throw new SluiceError(
    'INVALID_POSITION',
    `${JSON.stringify(position)} is not a valid position in ${protocol} events. Use ${format}.`,
  );
}

/** Compares two positions; negative if the first comes before the second. */
export function comparePositions(left: LogPosition, right: LogPosition): number {
  return left.attempt - right.attempt || left.seq - right.seq;
}

/** Consecutive events of one protocol and attempt, as log lines. */
export interface EventPack {
  readonly protocol: Emitted['protocol'];
  /** 0 for FCMP, whose numbers continue across attempts. */
  readonly attempt: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The lines, each with its newline; see {@link encodeLines}. */
  readonly lines: string;
}

/** Limits of a pack: to read one event, a reader must expand the whole pack. */
const MAX_EVENTS = 2048;
const MAX_BYTES = 256 * 1024;

/** The estimated size of an event besides the bytes it was derived from. */
const ENVELOPE_BYTES = 600;

/** Packs events, each protocol in order. A gap in the numbers starts a new pack. */
export function packEvents(events: readonly Emitted[]): EventPack[] {
  const packs: EventPack[] = [];
  for (const protocol of PROTOCOLS) {
    let group: Emitted['event'][] = [];
    let [attempt, firstSeq, lastSeq, bytes] = [0, 0, 0, 0];
    const close = (): void => {
      if (group.length > 0) packs.push({ protocol, attempt, firstSeq, lastSeq, lines: encodeLines(group) });
      [group, bytes] = [[], 0];
    };
    for (const emitted of events) {
      if (emitted.protocol !== protocol) continue;
      const position = getPosition(emitted);
      const size = estimateSize(emitted);
      const isNext = position.attempt === attempt && position.seq === lastSeq + 1;
      if (!isNext || group.length >= MAX_EVENTS || bytes + size > MAX_BYTES) close();
      if (group.length === 0) [attempt, firstSeq] = [position.attempt, position.seq];
      group.push(emitted.event);
      lastSeq = position.seq;
      bytes += size;
    }
    close();
  }
  return packs;
}

const PROTOCOLS = ['rasp', 'fcmp'] as const;

/** Returns the events in a pack; undefined if a line is damaged. */
export function unpackEvents(protocol: Emitted['protocol'], lines: string): Emitted[] | undefined {
  const events: Emitted[] = [];
  for (let start = 0; start < lines.length;) {
    const newline = lines.indexOf('\n', start);
    const end = newline < 0 ? lines.length : newline;
    const decoded = decodeLine(lines.slice(start, end));
    if (decoded === undefined) return undefined;
    // The cast is safe: they were packed as events of this protocol.
    for (const event of decoded) events.push({ protocol, event } as Emitted);
    start = end + 1;
  }
  return events;
}

/** Estimates an event's size from the bytes it was derived from, without serializing it. */
function estimateSize({ event: { raw_ref: raw } }: Emitted): number {
  return raw === null ? ENVELOPE_BYTES : ENVELOPE_BYTES + raw.byte_to - raw.byte_from;
}
