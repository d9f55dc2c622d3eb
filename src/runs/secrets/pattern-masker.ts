import type { Masker } from './masker.js';
import { createHeldBytes } from './held-bytes.js';
import type { ByteInstruction } from './byte-pattern.js';
import { NO_BYTE, listFirstBytes } from './byte-pattern.js';

/** No more than this is held back; of a longer match the last bytes are hidden. */
const MOST_MATCHED = 4096;

/** Marks of earlier bytes are kept in 32 bits, and a stream may be longer than they can count. */
const MOST_TURNS = 2 ** 30;

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
    if (turn === MOST_TURNS) {
      turn = 0;
      seen.fill(-1);
      taken.fill(-1);
    }
    for (let index = 0; index <= count; index += 1) {
      const isNew = index === count;
      const from = isNew ? position : Math.max(beginnings[index] ?? 0, position - MOST_MATCHED);
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
      return held.release(count === 0 ? position : Math.max(beginnings[0] ?? 0, position - MOST_MATCHED));
    },
    end() {
      if (count > 0) advance(NO_BYTE);
      return held.release(position);
    },
  };
}
