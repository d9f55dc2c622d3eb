import { LOG_START, comparePositions, positionOf } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { AnswerOf, ENDPOINTS } from '../../api/index.js';
import type { EventLog } from '../../runs/index.js';
import type { RunRecord } from '../../records/index.js';
import { following, logOf, positionFrom, preceding, protocolOf, wordOf } from './stream-protocol.js';
import { createTeller } from './teller.js';

/** What a range of history is asked with, as words. */
export type HistoryQuery = Readonly<Record<string, string>>;

/** Events, and where the rest begins if they are not all. */
export type History = AnswerOf<typeof ENDPOINTS.readHistory>;

const DEFAULT_LIMIT = 1000;
const PAGE = 256;
/** An answer ends after so much, however few events that is. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Makes what reads ranges of the past, both ends included. `limit` counts events of the log; in a projection each of them
 * may be several, or none. A projection hears all that came before the range, because its words depend on it.
 */
export function createHistory(log: Pick<EventLog, 'read'>): (run: RunRecord, query: HistoryQuery) => Promise<History> {
  return async (run, query) => {
    const protocol = protocolOf(query['protocol']);
    const teller = createTeller(protocol);
    const from = preceding(positionFrom(protocol, query['from']));
    const to = query['to'] === undefined ? undefined : positionFrom(protocol, query['to']);
    const limit = query['limit'] === undefined ? DEFAULT_LIMIT : Number(query['limit']);
    const events: object[] = [];
    let last: LogPosition = teller.remembers ? LOG_START : from;
    let count = 0;
    let bytes = 0;
    for (;;) {
      const range = { after: wordOf(protocol, last), ...(to === undefined ? {} : { to: wordOf(protocol, to) }) };
      const page = await log.read({ runId: run.id, protocol: logOf(protocol), ...range, limit: PAGE });
      if (page.length === 0) break;
      for (const emitted of page) {
        const position = positionOf(emitted);
        if (count >= limit || bytes >= MOST_BYTES) return { events, next_from: wordOf(protocol, position) };
        const told = teller.tell(emitted);
        last = position;
        if (comparePositions(position, from) <= 0) continue;
        events.push(...told);
        count += 1;
        bytes += JSON.stringify(told).length;
      }
    }
    // What ends a projection comes one after the last event, as in the stream.
    const isWhole = run.state === 'ended' && (to === undefined || comparePositions(following(protocol, last), to) <= 0);
    return { events: isWhole ? [...events, ...teller.finish()] : events, next_from: null };
  };
}
