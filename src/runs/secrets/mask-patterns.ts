import { createHeldBytes, type Masker, type WordFinder } from './mask-words.js';
import { SluiceError } from '../../base/index.js';
import { compilePatternProgram, toRegExp, type PatternInstruction } from '../../json/schema/index.js';

/** Maximum bytes held back; only the last bytes of a longer match are masked. */
const MAX_MATCH_BYTES = 4096;

/** The step counter has 32 bits, so it is reset before it overflows in a long stream. */
const MAX_STEPS = 2 ** 30;

/** Masks every byte covered by a match: simulates all states of the automaton, each with the earliest start. */
export function createPatternMasker(program: readonly ByteInstruction[]): Masker {
  const heldBytes = createHeldBytes();
  const first = listFirstBytes(program);
  /** The current states and the starts of their matches, earliest first. */
  let states = new Int32Array(program.length);
  let starts = new Float64Array(program.length);
  let count = 0;
  let nextStates = new Int32Array(program.length);
  let nextStarts = new Float64Array(program.length);
  let position = 0;
  let before = NO_BYTE;
  const seen = new Int32Array(program.length).fill(-1);
  const queued = new Int32Array(program.length).fill(-1);
  let step = 0;
  const stack: number[] = [];

  /** Processes the next byte, or the end: a match is detected at the byte after it, which can end a word or line. */
  function advance(byte: number): void {
    let nextCount = 0;
    step += 1;
    if (step === MAX_STEPS) {
      step = 0;
      seen.fill(-1);
      queued.fill(-1);
    }
    for (let index = 0; index <= count; index += 1) {
      const isNew = index === count;
      const from = isNew ? position : Math.max(starts[index] ?? 0, position - MAX_MATCH_BYTES);
      stack.push(isNew ? 0 : (states[index] ?? 0));
      for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
        if (seen[state] === step) continue;
        seen[state] = step;
        const instruction = program[state];
        if (instruction === undefined) continue;
        switch (instruction.op) {
          case 'byte':
            if (byte === NO_BYTE || instruction.table[byte] !== 1 || queued[state + 1] === step) break;
            queued[state + 1] = step;
            nextStates[nextCount] = state + 1;
            nextStarts[nextCount] = from;
            nextCount += 1;
            break;
          case 'split':
            stack.push(instruction.second, instruction.first);
            break;
          case 'assert':
            if (instruction.holds(before, byte)) stack.push(state + 1);
            break;
          case 'accept':
            heldBytes.mask(from, position);
            break;
        }
      }
    }
    [states, nextStates] = [nextStates, states];
    [starts, nextStarts] = [nextStarts, starts];
    count = nextCount;
  }

  return {
    push(bytes) {
      heldBytes.add(bytes);
      const start = position;
      const { length } = bytes;
      for (let at = 0; at < length; at += 1) {
        if (count === 0) {
          while (at < length && first[bytes[at] ?? 0] === 0) at += 1;
          if (at === length) break;
          position = start + at;
          if (at > 0) before = bytes[at - 1] ?? NO_BYTE;
        }
        const byte = bytes[at] ?? 0;
        advance(byte);
        before = byte;
        position = start + at + 1;
      }
      position = start + length;
      if (length > 0) before = bytes[length - 1] ?? NO_BYTE;
      return heldBytes.release(count === 0 ? position : Math.max(starts[0] ?? 0, position - MAX_MATCH_BYTES));
    },
    end() {
      if (count > 0) advance(NO_BYTE);
      return heldBytes.release(position);
    },
  };
}

/** Maximum instructions per pattern, because each byte can take as many steps. */
const MAX_INSTRUCTIONS = 500;
/** Represents every non-ASCII byte: `.`, `\S` and `[^"]` match it, `\w` does not. */
const NON_ASCII = 0x4e2d;

export type ByteInstruction =
  | { readonly op: 'byte'; readonly table: Uint8Array }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'assert'; readonly holds: (before: number, after: number) => boolean }
  | { readonly op: 'accept' };

/** The value used before the start and after the end of a stream. */
const NO_BYTE = -1;

/**
 * Compiles a pattern to instructions over bytes, which run in linear time for any output. `^` and `$` match the ends of
 * a line. Look-around, back-references and non-ASCII characters are rejected.
 */
export function compileBytePattern(source: string): readonly ByteInstruction[] {
  let program: readonly PatternInstruction[];
  try {
    if (/[^\0-\x7f]/.test(source)) throw new Error('it contains non-ASCII characters');
    program = compilePatternProgram(source, toRegExp(source, '').flags, '');
    if (program.length > MAX_INSTRUCTIONS) throw new Error('it has too many repetitions');
  } catch (cause) {
    throw new SluiceError(
      'INVALID_SECRET_PATTERN',
      `Invalid secret pattern ${JSON.stringify(source.slice(0, 80))}. Do not use look-around, back-references, non-ASCII characters or repetition counts in the hundreds.`,
      { cause },
    );
  }
  return program.map(toByteInstruction);
}

/**
 * Text that contains no secret: records, words and punctuation that agents and test runners print. A pattern that
 * matches any of it would mask results and structure, and hide from a reader what an agent did.
 */
const ORDINARY_TEXT = Buffer.from(`{"type":"message","role":"assistant","content":[{"text":"Done, all is well."}]}
{"id":1,"status":"ok","result":{"is_error":false,"exit_code":0,"summary":null},"command":"npm test"}
Tests: 12 passed, 1 failed, 3 skipped; no errors or warnings. The check did not pass: expected true to be false.
+++ b.js @@ -1,2 +3 @@ const sum = (a, b) => a + b; // adds % of \\ 'a' ^ b | c & ~d? # $x [5] <p>{6}</p> \`z\` 7 * 8 ! 9 4
The quick brown fox jumps over the lazy dog. THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG. commit branch issue run
`);

/** Compiles a configured pattern; rejects one that matches ordinary text: an agent can write a configuration. */
export function compileSecretPattern(source: string): readonly ByteInstruction[] {
  const program = compileBytePattern(source);
  const masker = createPatternMasker(program);
  const masked = Buffer.concat([masker.push(ORDINARY_TEXT), masker.end()]);
  const at = masked.findIndex((byte, index) => byte !== ORDINARY_TEXT[index]);
  if (at < 0) return program;
  const word = ORDINARY_TEXT.subarray(Math.max(0, at - 10), at + 20).toString();
  throw new SluiceError(
    'INVALID_SECRET_PATTERN',
    `The secret pattern ${JSON.stringify(source.slice(0, 80))} also matches ordinary text: ${JSON.stringify(word)}. It would mask more than secrets. Make it more specific.`,
  );
}

function toByteInstruction(instruction: PatternInstruction): ByteInstruction {
  switch (instruction.op) {
    case 'character': {
      const matchesNonAscii = instruction.matches(NON_ASCII);
      const table = Uint8Array.from({ length: 256 }, (_value, byte) =>
        (byte < 128 ? instruction.matches(byte) : matchesNonAscii) ? 1 : 0,
      );
      return { op: 'byte', table };
    }
    case 'assert':
      return { op: 'assert', holds: ASSERTIONS[instruction.kind] };
    case 'split':
    case 'accept':
      return instruction;
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const ASSERTIONS = {
  start: (before: number) => before === NO_BYTE || before === LINE_FEED,
  end: (_before: number, after: number) => after === NO_BYTE || after === LINE_FEED || after === CARRIAGE_RETURN,
  boundary: (before: number, after: number) => isWord(before) !== isWord(after),
  inside: (before: number, after: number) => isWord(before) === isWord(after),
} as const;

function isWord(byte: number): boolean {
  return byte !== NO_BYTE && /\w/.test(String.fromCharCode(byte));
}

function listFirstBytes(program: readonly ByteInstruction[]): Uint8Array {
  const first = new Uint8Array(256);
  const seen = new Set<number>();
  const stack = [0];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (seen.has(state)) continue;
    seen.add(state);
    const instruction = program[state];
    if (instruction?.op === 'split') stack.push(instruction.first, instruction.second);
    // The assertion might be true.
    else if (instruction?.op === 'assert') stack.push(state + 1);
    else if (instruction?.op === 'byte') for (const [byte, is] of instruction.table.entries()) first[byte] ||= is;
  }
  return first;
}

/** Ends of rows: line ends, escaped line ends in JSON, and quotes, which start and end a string in JSON. */
const ROW_END = /[\n\r]|(?<!\\)\\+[nr"]|"/g;
/** The next group of hexadecimal digits in a row, after blanks (`xxd`), colons (`openssl`) or commas (`xxd -i`). */
const GROUP = /([ \t:,]*)(?:0x)?([0-9a-f]+)(?=[ \t:,]|$)/iy;
/** The start of a row, until its text column. */
const ROW_START = /^[ \t]*(?:0?x?[0-9a-f]?|(?:0x)?[0-9a-f]{2}[0-9a-fx \t:,]*)\\*$/i;
/** A quick test that excludes nearly every line that is not a row. */
const FIRST_CHARACTER = /^[ \t0-9a-f]/i;
const MAX_ROW_LENGTH = 400;
/** `hexdump -C` prints two spaces after so many bytes; otherwise two spaces come before the text column. */
const HALF_ROW = 8;

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
          heldBytes.mask(found.at, found.at + 2);
          heldBytes.mask(found.textFrom, found.textTo);
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
    // The last number of `xxd -e` can have fewer bytes, and is aligned with the end of the others.
    const isAligned = gap.length > 2 && gap.length - 1 + digits.length === groups.at(-1)?.digits.length;
    if (groups.length > 1 && /[ \t]{2}/.test(gap) && !isMiddle && !isAligned) break;
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
