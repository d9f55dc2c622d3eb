import { SluiceError } from '../../base/index.js';
import { compilePatternProgram, toRegExp } from '../../json-schema/index.js';
import type { PatternInstruction } from '../../json-schema/index.js';

/** Each byte may cost as many steps as the patterns have instructions; this bounds it. */
const MOST_INSTRUCTIONS = 500;
/** Stands for every byte beyond ASCII: `.`, `\S` and `[^"]` take it, `\w` does not. */
const BEYOND_ASCII = 0x4e2d;

/** A step of a pattern over bytes. */
export type ByteInstruction =
  | { readonly op: 'byte'; readonly table: Uint8Array }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'assert'; readonly holds: (before: number, after: number) => boolean }
  | { readonly op: 'accept' };

/** The byte before the beginning and after the end of a stream. */
export const NO_BYTE = -1;

/**
 * Reads a pattern as steps over bytes: linear in time, whatever the output. `^` and `$` are the ends of a line. Look-around,
 * back-references and letters beyond ASCII are refused.
 */
export function compileBytePattern(source: string): readonly ByteInstruction[] {
  let program: readonly PatternInstruction[];
  try {
    if (/[^\0-\x7f]/.test(source)) throw new Error('it holds letters beyond ASCII');
    program = compilePatternProgram(source, toRegExp(source, '').flags, '');
    if (program.length > MOST_INSTRUCTIONS) throw new Error('it repeats too much');
  } catch (cause) {
    throw new SluiceError(
      'INVALID_SECRET_PATTERN',
      `${JSON.stringify(source.slice(0, 80))} cannot be used to find secrets; write it without look-around, back-references, letters beyond ASCII and repetitions of hundreds.`,
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
export function listFirstBytes(program: readonly ByteInstruction[]): Uint8Array {
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
