import { SluiceError } from '../../base/index.js';
import { LOG_START, readPosition, createAcpProjection, createAgUiProjection } from '../../events/index.js';
import type { LogPosition, Emitted, Projection } from '../../events/index.js';
import type { EventQuery } from '../../store/ports/index.js';

export type StreamProtocol = 'fcmp' | 'rasp' | 'agui' | 'acp';

/** Reads the protocol from a validated request; FCMP by default. */
export function readProtocol(word: string | undefined): StreamProtocol {
  return word === 'rasp' || word === 'agui' || word === 'acp' ? word : 'fcmp';
}

/** Returns the log that a protocol is based on: projections read only FCMP. */
export function chooseSourceLog(protocol: StreamProtocol): EventQuery['protocol'] {
  return protocol === 'rasp' ? 'rasp' : 'fcmp';
}

/** Formats a position for the wire: `17`, or `1:17` for RASP. */
export function formatPosition(protocol: StreamProtocol, { attempt, seq }: LogPosition): string {
  return protocol === 'rasp' ? `${attempt}:${seq}` : String(seq);
}

/** Parses a position; throws `INVALID_POSITION`. */
export function parsePosition(protocol: StreamProtocol, word: string | undefined): LogPosition {
  return word === undefined ? LOG_START : readPosition(chooseSourceLog(protocol), word);
}

/** Parses the positions in both logs, such as `17,1:17`; throws `INVALID_POSITION`, also if one of them is missing. */
export function parseBothPositions(word: string | undefined): Readonly<Record<'fcmp' | 'rasp', LogPosition>> {
  const [fcmp, rasp, ...others] = word?.split(',') ?? [];
  if (word !== undefined && (rasp === undefined || others.length > 0)) {
    throw new SluiceError(
      'INVALID_POSITION',
      `${JSON.stringify(word)} is not a position in both logs. Use a position for each log, such as 17,1:17.`,
    );
  }
  return { fcmp: parsePosition('fcmp', fcmp), rasp: parsePosition('rasp', rasp) };
}

/** Returns the preceding position: reading after it includes the given position. */
export function previousPosition({ attempt, seq }: LogPosition): LogPosition {
  return { attempt, seq: Math.max(0, seq - 1) };
}

export function nextPosition(protocol: StreamProtocol, { attempt, seq }: LogPosition): LogPosition {
  return { attempt: protocol === 'rasp' ? Math.max(1, attempt) : attempt, seq: seq + 1 };
}

export function isNext(protocol: StreamProtocol, last: LogPosition, next: LogPosition): boolean {
  if (next.attempt === last.attempt) return next.seq === last.seq + 1;
  return protocol === 'rasp' && next.attempt === last.attempt + 1 && next.seq === 1;
}

export type EventEncoder = ReturnType<typeof createEventEncoder>;

export function createEventEncoder(protocol: StreamProtocol) {
  const projection: Projection<object> | undefined =
    protocol === 'agui' ? createAgUiProjection() : protocol === 'acp' ? createAcpProjection() : undefined;
  return {
    /** Returns the protocol's events for one event of the log; possibly empty. */
    encode(emitted: Emitted): readonly object[] {
      if (projection === undefined) return [emitted.event];
      return emitted.protocol === 'fcmp' ? projection.push(emitted.event) : [];
    },
    /** Returns the events to send after the last event. */
    finish: (): readonly object[] => projection?.end() ?? [],
    /** Whether the output depends on earlier events. */
    isStateful: projection !== undefined,
  };
}

/** A comment line that keeps the connection alive; readers ignore it. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** How long a reader waits before it reconnects. */
export const RETRY = Buffer.from('retry: 1000\n\n');

/**
 * Formats the server-sent events for one event of the log. Only the last has the position as its id, so a reader that
 * received only some of them gets all of them again.
 */
export function formatEvents(events: readonly object[], id: string): string {
  let text = '';
  for (const [index, event] of events.entries()) {
    text += `${index === events.length - 1 ? `id: ${id}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
  }
  return text;
}

/** Reports events that were deleted from the log; `to` is null if their number is unknown. */
export function formatGap(protocol: StreamProtocol, from: LogPosition, to: LogPosition | null): string {
  const data = { from: formatPosition(protocol, from), to: to === null ? null : formatPosition(protocol, to) };
  return formatNotice(protocol, 'gap', data, data.to);
}

export function formatLag(protocol: StreamProtocol, after: LogPosition): string {
  return formatNotice(protocol, 'lag', { after: formatPosition(protocol, after) }, null);
}

/** Reports that the run has ended and everything has been sent. */
export function formatEnd(protocol: StreamProtocol, status: string | null): string {
  return formatNotice(protocol, 'end', { status }, null);
}

/**
 * Formats an event about the stream itself. Clients of AG-UI parse every line that starts with `data:` as one of their
 * events, and split at line feeds only; for all other readers a carriage return ends a line too.
 */
function formatNotice(protocol: StreamProtocol, name: string, data: object, id: string | null): string {
  const lines = [`event: ${name}`, ...(id === null ? [] : [`id: ${id}`]), `data: ${JSON.stringify(data)}`];
  return `${lines.join(protocol === 'agui' ? '\r' : '\n')}\n\n`;
}
