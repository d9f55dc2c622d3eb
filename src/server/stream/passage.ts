import { positionOf } from '../../events/index.js';
import type { Emitted, LogPosition } from '../../events/index.js';
import { gapText, groupText } from './sse-text.js';
import { following, isNext, preceding, wordOf } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';
import type { Teller } from './teller.js';

/** Some events in a row, as they are sent; encoded once, whoever reads them. */
export interface Passage {
  readonly bytes: Buffer;
  /** What each event of the log became: the part of `bytes` up to `end`, which may be empty. */
  readonly parts: readonly { readonly position: LogPosition; readonly end: number }[];
  /** Where a reader stands who has all of it. */
  readonly last: LogPosition;
  /** Whether the run, or an attempt of it, ends here. */
  readonly isTerminal: boolean;
}

/** Encodes what follows a position; what is missing in between is told as a gap. Undefined if nothing follows. */
export function encodePassage(
  events: readonly Emitted[],
  {
    protocol,
    teller,
    after,
  }: { readonly protocol: StreamProtocol; readonly teller: Teller; readonly after: LogPosition },
): Passage | undefined {
  if (events.length === 0) return undefined;
  const texts: string[] = [];
  const parts: { position: LogPosition; end: number }[] = [];
  let last = after;
  let end = 0;
  for (const emitted of events) {
    const position = positionOf(emitted);
    const gap = isNext(protocol, last, position)
      ? ''
      : gapText(protocol, following(protocol, last), preceding(position));
    const text = gap + groupText(teller.tell(emitted), wordOf(protocol, position));
    texts.push(text);
    end += Buffer.byteLength(text);
    parts.push({ position, end });
    last = position;
  }
  return { bytes: Buffer.from(texts.join('')), parts, last, isTerminal: events.some(isTerminal) };
}

const RUN_ENDS: ReadonlySet<string> = new Set([
  'lifecycle.run.completed',
  'lifecycle.run.failed',
  'lifecycle.run.canceled',
]);

function isTerminal({ protocol, event }: Emitted): boolean {
  if (protocol === 'fcmp') return event.type === 'conversation.completed' || event.type === 'conversation.failed';
  return RUN_ENDS.has(event.event.type);
}
