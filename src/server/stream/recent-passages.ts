import { comparePositions } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { Passage } from './passage.js';

/** The last passages that were sent, for readers who missed a little. */
export interface RecentPassages {
  /** Where a reader stands who has everything. */
  readonly head: LogPosition;
  add(passage: Passage): void;
  /** Whether all that follows a position is here. */
  covers(position: LogPosition): boolean;
  /** What follows a position that is covered. */
  since(position: LogPosition): readonly Buffer[];
}

/** A second or more of a busy run; what is older is in the store. */
const MOST_BYTES = 1024 * 1024;
const MOST_PASSAGES = 1024;

/** Begins empty, at a position. */
export function createRecentPassages(start: LogPosition): RecentPassages {
  const kept: { readonly passage: Passage; readonly from: LogPosition }[] = [];
  let head = start;
  let floor = start;
  let bytes = 0;

  return {
    get head() {
      return head;
    },
    add(passage) {
      kept.push({ passage, from: head });
      head = passage.last;
      bytes += passage.bytes.length;
      while (kept.length > MOST_PASSAGES || bytes > MOST_BYTES) {
        const oldest = kept.shift();
        if (oldest === undefined) break;
        floor = oldest.passage.last;
        bytes -= oldest.passage.bytes.length;
      }
    },
    covers: (position) => comparePositions(floor, position) <= 0 && comparePositions(position, head) <= 0,
    since(position) {
      const first = kept.findLastIndex(({ from }) => comparePositions(from, position) <= 0);
      return kept.slice(Math.max(0, first)).flatMap(({ passage, from }) => {
        if (comparePositions(position, from) <= 0) return [passage.bytes];
        const cut = passage.parts.findLast((part) => comparePositions(part.position, position) <= 0)?.end ?? 0;
        return [passage.bytes.subarray(cut)];
      });
    },
  };
}
