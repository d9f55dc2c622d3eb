import { createHeldBytes } from './masker.js';
import type { Masker } from './masker.js';
import { SluiceError } from '../../base/index.js';
import { compilePatternProgram, toRegExp } from '../../json-schema/index.js';
import type { PatternInstruction } from '../../json-schema/index.js';

/** No more than this is held back; of a longer match the last bytes are hidden. */
const MAX_MATCHED = 4096;

/** Marks of earlier bytes are kept in 32 bits, and a stream may be longer than they can count. */
const MAX_TURNS = 2 ** 30;

/**
 * Hides everything that any match of a pattern covers. All places a match may have come to are carried along at once, each
 * with the earliest beginning that led there.
 */
export function createPatternMasker(program: readonly ByteInstruction[]): Masker {
  const held = createHeldBytes();
  const first = listFirstBytes(program);
  /** The places reached by the bytes so far and where their matches began, earliest first. */
  let places = new Int32Array(program.length);
  let beginnings = new Float64Array(program.length);
  let count = 0;
  let nextPlaces = new Int32Array(program.length);
  let nextBeginnings = new Float64Array(program.length);
  let position = 0;
  let before = NO_BYTE;
  const seen = new Int32Array(program.length).fill(-1);
  const taken = new Int32Array(program.length).fill(-1);
  let turn = 0;
  const stack: number[] = [];

  /** One more byte, or the end. A match shows only now, because a word or line may have to end there. */
  function advance(byte: number): void {
    let nextCount = 0;
    turn += 1;
    if (turn === MAX_TURNS) {
      turn = 0;
      seen.fill(-1);
      taken.fill(-1);
    }
    for (let index = 0; index <= count; index += 1) {
      const isNew = index === count;
      const from = isNew ? position : Math.max(beginnings[index] ?? 0, position - MAX_MATCHED);
      stack.push(isNew ? 0 : (places[index] ?? 0));
      for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
        if (seen[state] === turn) continue;
        seen[state] = turn;
        const instruction = program[state];
        if (instruction === undefined) continue;
        switch (instruction.op) {
          case 'byte':
            if (byte === NO_BYTE || instruction.table[byte] !== 1 || taken[state + 1] === turn) break;
            taken[state + 1] = turn;
            nextPlaces[nextCount] = state + 1;
            nextBeginnings[nextCount] = from;
            nextCount += 1;
            break;
          case 'split':
            stack.push(instruction.second, instruction.first);
            break;
          case 'assert':
            if (instruction.holds(before, byte)) stack.push(state + 1);
            break;
          case 'accept':
            held.hide(from, position);
            break;
        }
      }
    }
    [places, nextPlaces] = [nextPlaces, places];
    [beginnings, nextBeginnings] = [nextBeginnings, beginnings];
    count = nextCount;
  }

  return {
    push(bytes) {
      held.add(bytes);
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
      return held.release(count === 0 ? position : Math.max(beginnings[0] ?? 0, position - MAX_MATCHED));
    },
    end() {
      if (count > 0) advance(NO_BYTE);
      return held.release(position);
    },
  };
}

/** Each byte may cost as many steps as the patterns have instructions; this bounds it. */
const MAX_INSTRUCTIONS = 500;
/** Stands for every byte beyond ASCII: `.`, `\S` and `[^"]` take it, `\w` does not. */
const BEYOND_ASCII = 0x4e2d;

/** A step of a pattern over bytes. */
export type ByteInstruction =
  | { readonly op: 'byte'; readonly table: Uint8Array }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'assert'; readonly holds: (before: number, after: number) => boolean }
  | { readonly op: 'accept' };

/** The byte before the beginning and after the end of a stream. */
const NO_BYTE = -1;

/**
 * Reads a pattern as steps over bytes: linear in time, whatever the output. `^` and `$` are the ends of a line. Look-around,
 * back-references and letters beyond ASCII are refused.
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
      `Invalid secret pattern ${JSON.stringify(source.slice(0, 80))}. Write it without look-around, back-references, non-ASCII characters and repetitions of hundreds.`,
      { cause },
    );
  }
  return program.map(toByteInstruction);
}

function toByteInstruction(instruction: PatternInstruction): ByteInstruction {
  switch (instruction.op) {
    case 'character': {
      const beyond = instruction.matches(BEYOND_ASCII);
      const table = Uint8Array.from({ length: 256 }, (_none, byte) =>
        (byte < 128 ? instruction.matches(byte) : beyond) ? 1 : 0,
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

/** For each byte whether it can begin a match. */
function listFirstBytes(program: readonly ByteInstruction[]): Uint8Array {
  const first = new Uint8Array(256);
  const seen = new Set<number>();
  const stack = [0];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (seen.has(state)) continue;
    seen.add(state);
    const instruction = program[state];
    if (instruction?.op === 'split') stack.push(instruction.first, instruction.second);
    // Whether it holds is not known here; it may.
    else if (instruction?.op === 'assert') stack.push(state + 1);
    else if (instruction?.op === 'byte') for (const [byte, is] of instruction.table.entries()) first[byte] ||= is;
  }
  return first;
}
