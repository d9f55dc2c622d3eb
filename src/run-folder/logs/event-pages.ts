import { LOG_END, comparePositions, getCount, decodeLine, getPosition } from '../../events/index.js';
import type { Emitted, LogPosition } from '../../events/index.js';
import { openLineTail } from '../../files/index.js';
import type { FileLine } from '../../files/index.js';
import type { RunFolder } from '../open-run-folder.js';
import { findFirstIndex } from '../../base/index.js';
import { ROW_BYTES } from './read-log-file.js';

/** Reads a run's events of one protocol page by page, also while they are being written. */
export interface EventPages {
  /**
   * The events after a position, up to another and at most `limit`; fewer if they are large. None means that there
   * are no more, for now.
   */
  read(query: { readonly after: LogPosition; readonly to?: LogPosition; readonly limit: number }): Promise<Emitted[]>;
}

/** Lines between two remembered offsets, so that a page is found without reading the log from its start. */
const STRIDE = 256;

/** A page ends after this much text: a single event may have megabytes. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** An event's place in the log, and where its line begins. */
interface Place {
  readonly position: LogPosition;
  readonly offset: number;
}

/** Opens the log of a protocol. Places are remembered from page to page; a line that is no event is passed over. */
export function openEventPages(folder: RunFolder, protocol: Emitted['protocol']): EventPages {
  const places: Place[] = [];

  function placeBefore(after: LogPosition): Place | undefined {
    return places[findFirstIndex(places, ({ position }) => comparePositions(position, after) > 0) - 1];
  }

  /** Places are remembered in the order of the log only: a page further back adds none. */
  function remember(position: LogPosition, offset: number): void {
    const last = places.at(-1);
    if (last === undefined || offset > last.offset) places.push({ position, offset });
  }

  function standsAt({ position }: Place, line: FileLine | undefined): boolean {
    const [first] = readEvents(protocol, line?.text);
    return first !== undefined && comparePositions(getPosition(first), position) === 0;
  }

  const read: EventPages['read'] = async (query) => {
    const { after, to = LOG_END, limit } = query;
    const page: Emitted[] = [];
    let bytes = 0;
    const place = placeBefore(after);
    const lines = openLineTail(async () => folder.openLog(protocol), ROW_BYTES, place?.offset ?? 0);
    try {
      let line = await lines.next();
      if (place !== undefined && !standsAt(place, line)) {
        // The log was rewritten: nothing that is remembered of it counts.
        places.length = 0;
        return await read(query);
      }
      for (; line !== undefined; line = await lines.next()) {
        const events = readEvents(protocol, line.text);
        const [first] = events;
        if (first === undefined) continue;
        // A line of many events is as much reading as many lines.
        if (line.number % STRIDE === 1 || events.length > 1) remember(getPosition(first), line.offset);
        for (const emitted of events) {
          const position = getPosition(emitted);
          if (comparePositions(position, after) <= 0) continue;
          if (comparePositions(position, to) > 0 || page.length >= limit) return page;
          page.push(emitted);
        }
        bytes += line.text?.length ?? 0;
        if (page.length >= limit || bytes >= PAGE_BYTES) break;
      }
      return page;
    } finally {
      await lines.close();
    }
  };

  return { read };
}

/**
 * Any line with a valid position is accepted. A worker can write into the folder, and a line without a position would be read
 * again and again.
 */
function readEvents(protocol: Emitted['protocol'], text: string | undefined): Emitted[] {
  const events = text === undefined ? [] : (decodeLine(text) ?? []);
  const hasPlace = (event: object): boolean =>
    getCount(event, 'seq') !== null && (protocol === 'fcmp' || getCount(event, 'attempt_number') !== null);
  return events.filter(hasPlace).map((event) => ({ protocol, event }) as Emitted);
}
