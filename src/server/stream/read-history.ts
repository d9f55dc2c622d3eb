import { LOG_START, comparePositions, getPosition } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { ResponseOf, ENDPOINTS } from '../api/index.js';
import type { EventLog } from '../../store/ports/index.js';
import type { RunRecord } from '../../store/records/index.js';
import {
  nextPosition,
  chooseSourceLog,
  parsePosition,
  previousPosition,
  readProtocol,
  formatPosition,
  createEventEncoder,
} from './stream-protocol.js';

/** The query parameters of a request for history. */
type HistoryQuery = Readonly<Record<string, string>>;

/** Events, and the position of the next one if there are more. */
type History = ResponseOf<typeof ENDPOINTS.readHistory>;

const DEFAULT_LIMIT = 1000;
const PAGE = 256;
/** A response stops after this many bytes, even if it has only a few events. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Creates a function that reads a range of past events, both ends included. `limit` counts events of the log; in a
 * projection, each can become multiple events or none. A projection gets all earlier events first, because its output
 * depends on them.
 */
export function createHistory(log: Pick<EventLog, 'read'>): (run: RunRecord, query: HistoryQuery) => Promise<History> {
  return async (run, query) => {
    const protocol = readProtocol(query['protocol']);
    const encoder = createEventEncoder(protocol);
    const from = previousPosition(parsePosition(protocol, query['from']));
    const to = query['to'] === undefined ? undefined : parsePosition(protocol, query['to']);
    const limit = query['limit'] === undefined ? DEFAULT_LIMIT : Number(query['limit']);
    const events: object[] = [];
    let last: LogPosition = encoder.isStateful ? LOG_START : from;
    let count = 0;
    let bytes = 0;
    for (;;) {
      const range = {
        after: formatPosition(protocol, last),
        ...(to === undefined ? {} : { to: formatPosition(protocol, to) }),
      };
      const page = await log.read({ runId: run.id, protocol: chooseSourceLog(protocol), ...range, limit: PAGE });
      if (page.length === 0) break;
      for (const emitted of page) {
        const position = getPosition(emitted);
        if (count >= limit || bytes >= MAX_BYTES) return { events, next_from: formatPosition(protocol, position) };
        const encoded = encoder.encode(emitted);
        last = position;
        if (comparePositions(position, from) <= 0) continue;
        events.push(...encoded);
        count += 1;
        bytes += JSON.stringify(encoded).length;
      }
    }
    // The final events of a projection follow the last event, as in the stream.
    const isComplete =
      run.state === 'ended' && (to === undefined || comparePositions(nextPosition(protocol, last), to) <= 0);
    return { events: isComplete ? [...events, ...encoder.finish()] : events, next_from: null };
  };
}
