import { LOG_START, readPosition } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { EventQuery } from '../../runs/index.js';

/** In whose words the events of a run are told. */
export type StreamProtocol = 'fcmp' | 'rasp' | 'agui' | 'acp';

/** The protocol of a request; the table of endpoints has checked the word. */
export function protocolOf(word: string | undefined): StreamProtocol {
  return word === 'rasp' || word === 'agui' || word === 'acp' ? word : 'fcmp';
}

/** The log a protocol is told from: projections read FCMP alone. */
export function logOf(protocol: StreamProtocol): EventQuery['protocol'] {
  return protocol === 'rasp' ? 'rasp' : 'fcmp';
}

/** A position as it stands on the wire: `17`, or `1:17` for RASP. */
export function wordOf(protocol: StreamProtocol, { attempt, seq }: LogPosition): string {
  return protocol === 'rasp' ? `${attempt}:${seq}` : String(seq);
}

/** Reads a position off the wire; throws `INVALID_POSITION` for what is none. */
export function positionFrom(protocol: StreamProtocol, word: string | undefined): LogPosition {
  return word === undefined ? LOG_START : readPosition(logOf(protocol), word);
}

/** The position before one: what to read after in order to get it too. */
export function preceding({ attempt, seq }: LogPosition): LogPosition {
  return { attempt, seq: Math.max(0, seq - 1) };
}

/** The position after one, as far as it can be known. */
export function following(protocol: StreamProtocol, { attempt, seq }: LogPosition): LogPosition {
  return { attempt: protocol === 'rasp' ? Math.max(1, attempt) : attempt, seq: seq + 1 };
}

/** Whether nothing is missing between two events. */
export function isNext(protocol: StreamProtocol, last: LogPosition, next: LogPosition): boolean {
  if (next.attempt === last.attempt) return next.seq === last.seq + 1;
  return protocol === 'rasp' && next.attempt === last.attempt + 1 && next.seq === 1;
}
