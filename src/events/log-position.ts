import { SluiceError } from '../base/index.js';
import type { Emitted } from './protocol/translator-output.js';

/** An event's position in its log: its number for FCMP, attempt and number for RASP. */
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
