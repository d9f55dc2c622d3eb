import type { LogPosition } from '../../events/index.js';
import { wordOf } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';

/** Nothing but a sign of life; readers do not hear of it. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** How long a reader whose connection broke waits before it comes again. */
export const RETRY = Buffer.from('retry: 1000\n\n');

/**
 * What one event of the log became, as server-sent events. The last one has the position as its id, so that a reader who
 * got only some of them comes back for all.
 */
export function groupText(told: readonly object[], id: string): string {
  let text = '';
  for (const [index, event] of told.entries()) {
    text += `${index === told.length - 1 ? `id: ${id}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
  }
  return text;
}

/** Events that the log does not have any more; `to` is null where nobody knows how many there were. */
export function gapText(protocol: StreamProtocol, from: LogPosition, to: LogPosition | null): string {
  const data = { from: wordOf(protocol, from), to: to === null ? null : wordOf(protocol, to) };
  return noticeText(protocol, 'gap', data, data.to);
}

/** The reader was slower than the run; what it has not had is read again from the store. */
export function lagText(protocol: StreamProtocol, after: LogPosition): string {
  return noticeText(protocol, 'lag', { after: wordOf(protocol, after) }, null);
}

/** The run has ended and this was everything. */
export function endText(protocol: StreamProtocol, status: string | null): string {
  return noticeText(protocol, 'end', { status }, null);
}

/**
 * An event about the stream itself. Clients of AG-UI take every line that begins with `data:` for one of their events, and
 * know line feeds only; for everyone else a carriage return ends a line too.
 */
function noticeText(protocol: StreamProtocol, name: string, data: object, id: string | null): string {
  const lines = [`event: ${name}`, ...(id === null ? [] : [`id: ${id}`]), `data: ${JSON.stringify(data)}`];
  return `${lines.join(protocol === 'agui' ? '\r' : '\n')}\n\n`;
}
