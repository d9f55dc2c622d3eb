import { invalidSchema } from './invalid-schema.js';
import { parsePattern } from './parse-pattern.js';
import type { PatternPart } from './parse-pattern.js';

/** Repetitions are written out, so this bounds what `.{1,500}` and its nestings may grow to. */
const MOST_INSTRUCTIONS = 5000;

/** One step of a compiled pattern; `split` goes on at two places. */
export type PatternInstruction =
  | { readonly op: 'character'; readonly matches: (code: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'assert'; readonly kind: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'accept' };

/**
 * Writes a regular expression out as steps that a set of states can be carried through. Look-around, back-references and
 * patterns that grow too large are refused.
 */
export function compilePatternProgram(source: string, flags: string, location: string): readonly PatternInstruction[] {
  const program: PatternInstruction[] = [];
  emit(parsePattern(source, flags, location));
  push({ op: 'accept' });
  return program;

  function push(instruction: PatternInstruction): number {
    if (program.length >= MOST_INSTRUCTIONS) {
      throw invalidSchema(location, 'this pattern is too large for a schema from a stranger; repeat less');
    }
    return program.push(instruction) - 1;
  }

  function emit(part: PatternPart): void {
    switch (part.kind) {
      case 'character':
        push({ op: 'character', matches: part.matches });
        return;
      case 'assert':
        push({ op: 'assert', kind: part.assertion });
        return;
      case 'sequence':
        for (const inner of part.parts) emit(inner);
        return;
      case 'choice':
        emitChoice(part.parts);
        return;
      case 'repeat':
        emitRepeat(part.part, part.least, part.most);
        return;
    }
  }

  function emitChoice(parts: readonly PatternPart[]): void {
    const jumps: { op: 'split'; first: number; second: number }[] = [];
    for (const part of parts.slice(0, -1)) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      push(split);
      emit(part);
      const jump = { op: 'split' as const, first: 0, second: 0 };
      push(jump);
      jumps.push(jump);
      split.second = program.length;
    }
    const last = parts.at(-1);
    if (last !== undefined) emit(last);
    for (const jump of jumps) jump.first = jump.second = program.length;
  }

  function emitRepeat(part: PatternPart, least: number, most: number): void {
    for (let count = 0; count < least; count += 1) {
      const before = program.length;
      emit(part);
      // An empty group adds nothing however often it is repeated.
      if (program.length === before) return;
    }
    if (most === Infinity) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      const start = push(split);
      emit(part);
      push({ op: 'split', first: start, second: start });
      split.second = program.length;
      return;
    }
    const splits: { op: 'split'; first: number; second: number }[] = [];
    for (let count = least; count < most; count += 1) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      push(split);
      splits.push(split);
      emit(part);
    }
    for (const split of splits) split.second = program.length;
  }
}
