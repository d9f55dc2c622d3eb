import { invalidSchema } from './invalid-schema.js';
import { parsePattern } from './parse-pattern.js';
import type { PatternPart } from './parse-pattern.js';
import type { Allowance, Pattern } from './patterns.js';

/** Repetitions are written out, so this bounds what `.{1,500}` and its nestings may grow to. */
const MOST_INSTRUCTIONS = 5000;

type Instruction =
  | { readonly op: 'character'; readonly matches: (code: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'assert'; readonly kind: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'accept' };

/**
 * A regular expression as a set of states that is carried along the text: every character is looked at once, with at
 * most as many steps as the pattern has instructions. No pattern can make it slower than that.
 */
export function compileLinearPattern(source: string, flags: string, location: string): Pattern {
  const program: Instruction[] = [];
  emit(parsePattern(source, flags, location));
  push({ op: 'accept' });
  const unicode = flags.includes('u');
  return { test: (text, allowance) => run(program, text, unicode, allowance) };

  function push(instruction: Instruction): number {
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

function run(program: readonly Instruction[], text: string, unicode: boolean, allowance: Allowance): boolean {
  let active: number[] = [];
  let next: number[] = [];
  const seen = new Int32Array(program.length).fill(-1);
  const stack: number[] = [];
  let accepted = false;
  for (let index = 0, width = 1; index <= text.length; index += width) {
    add(active, 0, index);
    if (accepted) return true;
    if (index === text.length) return false;
    const code = unicode ? (text.codePointAt(index) ?? 0) : text.charCodeAt(index);
    width = code > 0xffff ? 2 : 1;
    allowance.steps -= active.length;
    if (allowance.steps < 0) return false;
    for (const state of active) {
      const instruction = program[state];
      if (instruction?.op === 'character' && instruction.matches(code)) add(next, state + 1, index + width);
    }
    if (accepted) return true;
    [active, next] = [next, active];
    next.length = 0;
  }
  return false;

  /** Follows everything that reads no character. */
  function add(states: number[], from: number, index: number): void {
    stack.push(from);
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (seen[state] === index) continue;
      seen[state] = index;
      const instruction = program[state];
      if (instruction === undefined) continue;
      switch (instruction.op) {
        case 'character':
          states.push(state);
          break;
        case 'split':
          stack.push(instruction.second, instruction.first);
          break;
        case 'assert':
          if (holds(instruction.kind, text, index)) stack.push(state + 1);
          break;
        case 'accept':
          accepted = true;
          break;
      }
    }
  }
}

function holds(kind: 'start' | 'end' | 'boundary' | 'inside', text: string, index: number): boolean {
  switch (kind) {
    case 'start':
      return index === 0;
    case 'end':
      return index === text.length;
    case 'boundary':
      return isWordAt(text, index - 1) !== isWordAt(text, index);
    case 'inside':
      return isWordAt(text, index - 1) === isWordAt(text, index);
  }
}

function isWordAt(text: string, index: number): boolean {
  return /^\w$/.test(text.charAt(index));
}
