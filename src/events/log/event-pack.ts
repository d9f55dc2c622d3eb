import { getPosition } from '../log-position.js';
import type { Emitted } from '../protocol/translator-output.js';
import { decodeLine, encodeLines } from './series.js';

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
