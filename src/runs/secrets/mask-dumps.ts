import { createHeldBytes } from './mask-words.js';
import type { Masker, WordFinder } from './mask-words.js';

/** Ends of rows: line ends, escaped line ends in JSON, and quotes, which start and end a string in JSON. */
const ROW_END = /[\n\r]|(?<!\\)\\+[nr"]|"/g;
/** The next group of hexadecimal digits in a row, after blanks (`xxd`), colons (`openssl`) or commas (`xxd -i`). */
const GROUP = /([ \t:,]*)(?:0x)?([0-9a-f]+)(?=[ \t:,]|$)/iy;
/** The start of a row, until its text column. */
const ROW_START = /^[ \t]*(?:0?x?[0-9a-f]?|(?:0x)?[0-9a-f]{2}[0-9a-fx \t:,]*)\\*$/i;
/** A quick test that excludes nearly every line that is not a row. */
const FIRST_CHARACTER = /^[ \t0-9a-f]/i;
/** The longest row that is read. */
const MAX_ROW_LENGTH = 400;
/** `hexdump -C` prints two spaces after so many bytes; otherwise two spaces come before the text column. */
const HALF_ROW = 8;

/** A group of digits in a row. */
interface Group {
  readonly at: number;
  readonly digits: string;
}

/** A byte that is shown in a dump: where its digits are, and the text column of its row. */
interface DumpedByte {
  readonly value: number;
  readonly at: number;
  readonly textFrom: number;
  readonly textTo: number;
}

/** Searches the bytes of one reading of the rows. */
interface Search {
  /** Whether the first group of a row is its offset. */
  readonly hasOffset: boolean;
  /** Whether a group is a number with its lowest byte last, as printed by `hexdump` and `od -x`. */
  readonly isSwapped: boolean;
  state: number;
  recent: DumpedByte[];
}

/**
 * Masks words in hex dumps, in which the offset and the text column of a row separate bytes that belong together: the
 * digits, and the text columns of all rows that show a part of the word. Rows are lines, also within a JSON string.
 */
export function createDumpMasker(finder: WordFinder): Masker {
  const heldBytes = createHeldBytes();
  let position = 0;
  /** The text of the last row, if it has not ended. */
  let tail = '';
  /** Whether the text before `tail` belongs to a line that is not a row. */
  let isSkipping = false;
  /** The number of backslashes in an escaped line end of the current string; 0 outside JSON. */
  let depth = 0;
  const searches: readonly Search[] = [true, false].flatMap((hasOffset) =>
    [true, false].map((isSwapped) => ({ hasOffset, isSwapped, state: 0, recent: [] })),
  );

  function readRow(row: string, at: number): void {
    if (row === '') return;
    const groups = isSkipping ? [] : listGroups(row);
    if (groups.length === 0 && searches.every(({ recent }) => recent.length === 0)) return;
    for (const search of searches) {
      const shown = search.hasOffset ? groups.slice(1) : groups;
      const isRow = shown.length > 0 && shown.every(({ digits }) => digits.length % 2 === 0);
      if (!isRow) {
        search.state = 0;
        if (search.recent.length > 0) search.recent = [];
        continue;
      }
      for (const byte of listBytes(shown, row, at, search.isSwapped)) {
        search.recent.push(byte);
        search.state = finder.step(search.state, byte.value);
        const wordLength = finder.wordLength(search.state);
        for (const found of wordLength === 0 ? [] : search.recent.slice(-wordLength)) {
          heldBytes.maskRange(found.at, found.at + 2);
          heldBytes.maskRange(found.textFrom, found.textTo);
        }
      }
      const pending = finder.pending(search.state);
      search.recent = search.recent.slice(search.recent.length - pending);
    }
  }

  /** Reads all rows that have ended; returns the rest. */
  function readRows(text: string, at: number): string {
    let from = 0;
    for (const { 0: end, index } of text.matchAll(ROW_END)) {
      const backslashes = end.length - 1;
      const isInText = isContent(end, depth) && !isSkipping && listGroups(text.slice(from, index)).length > 1;
      if (index < from || isInText) continue;
      readRow(text.slice(from, index), at + from);
      from = index + end.length;
      isSkipping = false;
      if (end === '\n' || end === '\r') depth = 0;
      else if (end.endsWith('"')) depth = backslashes + 1;
      else if (backslashes % (2 * depth) !== depth) depth = backslashes;
    }
    return text.slice(from);
  }

  return {
    push(bytes) {
      heldBytes.add(bytes);
      const rest = readRows(tail + Buffer.from(bytes).toString('latin1'), position - tail.length);
      position += bytes.length;
      const mayBeRow = !isSkipping && rest.length <= MAX_ROW_LENGTH;
      if (rest === '' || (mayBeRow && (ROW_START.test(rest) || listGroups(rest).length > 1))) tail = rest;
      else {
        // The line is not a row, but its end might have been cut.
        readRow(rest, position);
        isSkipping = true;
        tail = /\\{0,64}$/.exec(rest)?.[0] ?? '';
        return heldBytes.release(position);
      }
      const pending = searches.flatMap(({ recent }) => recent.map(({ at }) => at));
      return heldBytes.release(Math.min(position - (isSkipping ? 0 : tail.length), ...pending));
    },
    end() {
      readRow(tail, position - tail.length);
      return heldBytes.release(position);
    },
  };
}

/** Lists the groups of digits at the start of a row, up to its text column. */
function listGroups(row: string): Group[] {
  const groups: Group[] = [];
  if (!FIRST_CHARACTER.test(row)) return groups;
  GROUP.lastIndex = 0;
  for (let match = GROUP.exec(row); match !== null; match = GROUP.exec(row)) {
    const [{ length }, gap = '', digits = ''] = match;
    const isMiddle = gap === '  ' && (groups.length === HALF_ROW || groups.length === HALF_ROW + 1);
    if (groups.length > 1 && /[ \t]{2}/.test(gap) && !isMiddle) break;
    if (groups.length > 0 && digits.length % 2 === 1) break;
    groups.push({ at: match.index + length - digits.length, digits });
  }
  return groups;
}

function* listBytes(groups: readonly Group[], row: string, at: number, isSwapped: boolean): Generator<DumpedByte> {
  const last = groups.at(-1);
  const end = last === undefined ? 0 : last.at + last.digits.length;
  const textFrom = at + row.length - row.slice(end).trimStart().length;
  for (const group of groups) {
    const { length } = group.digits;
    for (let index = 0; index < length; index += 2) {
      const from = isSwapped ? length - 2 - index : index;
      const value = Number.parseInt(group.digits.slice(from, from + 2), 16);
      yield { value, at: at + group.at + from, textFrom, textTo: at + row.length };
    }
  }
}

/** Whether this end of a row is part of its text column: a quote or a backslash that the dump shows. */
function isContent(end: string, depth: number): boolean {
  if (end === '\n' || end === '\r') return false;
  const backslashes = end.length - 1;
  if (depth === 0) return true;
  return end.endsWith('"') ? backslashes >= depth : backslashes % (2 * depth) !== depth;
}
