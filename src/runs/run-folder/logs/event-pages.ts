import { LOG_END, comparePositions, getCount, decodeLine, getPosition } from '../../../events/index.js';
import type { Emitted, LogPosition } from '../../../events/index.js';
import { openLineTail } from '../../../base/files/index.js';
import type { FileLine } from '../../../base/files/index.js';
import type { RunFolder } from '../open-run-folder.js';
import { findFirstIndex } from '../../../base/index.js';
import { MAX_LINE_BYTES } from './run-logs.js';

/** Reads a run's events of one protocol page by page, even while they are being written. */
export interface EventPages {
  /**
   * Returns at most `limit` events after the position `after`, up to and including `to`; fewer if they are large. An
   * empty list means that no more events exist yet.
   */
  read(query: { readonly after: LogPosition; readonly to?: LogPosition; readonly limit: number }): Promise<Emitted[]>;
}

/** The number of lines between two bookmarks. */
const STRIDE = 256;

/** A page ends after this many characters, because a single event can be several megabytes long. */
const PAGE_LENGTH = 4 * 1024 * 1024;

/** An event's position and the offset of its line, to find a page without reading the log from its start. */
interface Bookmark {
  readonly position: LogPosition;
  readonly offset: number;
}

/** Opens the log of a protocol. Lines that are not events are skipped. */
export function openEventPages(folder: RunFolder, protocol: Emitted['protocol']): EventPages {
  const bookmarks: Bookmark[] = [];

  function findBookmarkBefore(after: LogPosition): Bookmark | undefined {
    return bookmarks[findFirstIndex(bookmarks, ({ position }) => comparePositions(position, after) > 0) - 1];
  }

  /** Adds a bookmark unless an earlier part of the log is being read again. */
  function addBookmark(position: LogPosition, offset: number): void {
    const last = bookmarks.at(-1);
    if (last === undefined || offset > last.offset) bookmarks.push({ position, offset });
  }

  function isAt({ position }: Bookmark, line: FileLine | undefined): boolean {
    const [first] = readEvents(protocol, line?.text);
    return first !== undefined && comparePositions(getPosition(first), position) === 0;
  }

  const read: EventPages['read'] = async (query) => {
    const { after, to = LOG_END, limit } = query;
    const page: Emitted[] = [];
    let length = 0;
    const bookmark = findBookmarkBefore(after);
    const lines = openLineTail(async () => folder.openLog(protocol), MAX_LINE_BYTES, bookmark?.offset ?? 0);
    try {
      let line = await lines.next();
      if (bookmark !== undefined && !isAt(bookmark, line)) {
        // The log was rewritten, so its bookmarks are no longer valid.
        bookmarks.length = 0;
        return await read(query);
      }
      for (; line !== undefined; line = await lines.next()) {
        const events = readEvents(protocol, line.text);
        const [first] = events;
        if (first === undefined) continue;
        // A line with many events takes as long to read as many lines.
        if (line.number % STRIDE === 1 || events.length > 1) addBookmark(getPosition(first), line.offset);
        for (const emitted of events) {
          const position = getPosition(emitted);
          if (comparePositions(position, after) <= 0) continue;
          if (comparePositions(position, to) > 0 || page.length >= limit) return page;
          page.push(emitted);
        }
        // Lines before `after` do not count: the page would end before its first event, and look like the end of the log.
        if (page.length > 0) length += line.text?.length ?? 0;
        if (page.length >= limit || length >= PAGE_LENGTH) break;
      }
      return page;
    } finally {
      await lines.close();
    }
  };

  return { read };
}

/**
 * Reads the events of a line that have a valid position. An agent can write to the folder, and an event without a
 * position would be returned again with every page.
 */
function readEvents(protocol: Emitted['protocol'], text: string | undefined): Emitted[] {
  const events = text === undefined ? [] : (decodeLine(text) ?? []);
  const hasPosition = (event: object): boolean =>
    getCount(event, 'seq') !== null && (protocol === 'fcmp' || getCount(event, 'attempt_number') !== null);
  return events.filter(hasPosition).map((event) => ({ protocol, event }) as Emitted);
}
