import { createHeldBytes } from './mask-words.js';
import type { Masker } from './mask-words.js';
import { SluiceError } from '../../base/index.js';
import { compilePatternProgram, toRegExp } from '../../json/schema/index.js';
import type { PatternInstruction } from '../../json/schema/index.js';

/** Maximum bytes held back; only the last bytes of a longer match are masked. */
const MAX_MATCH_BYTES = 4096;

/** The step counter has 32 bits, so it is reset before it overflows in a long stream. */
const MAX_STEPS = 2 ** 30;

/**
 * Masks every byte covered by a match of the pattern. Simulates all states of the pattern's automaton in parallel, each
 * with the earliest start of a match that led to it.
 */
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

  /**
   * Processes the next byte, or the end of the stream. A match is detected only at the byte after it, because the
   * pattern can require the end of a word or line.
   */
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

/** A step of a pattern over bytes. */
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

/**
 * Compiles a configured pattern, like {@link compileBytePattern}, and rejects it if it matches ordinary text: an agent
 * can write a configuration that masks everything.
 */
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

/** Returns for each byte whether it can start a match. */
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
