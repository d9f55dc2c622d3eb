import { compilePatternProgram } from './pattern-program.js';
import type { PatternInstruction } from './pattern-program.js';
import type { Allowance, Pattern } from './patterns.js';

/**
 * A regular expression as a set of states that is carried along the text: every character is looked at once, with at
 * most as many steps as the pattern has instructions. No pattern can make it slower than that.
 */
export function compileLinearPattern(source: string, flags: string, location: string): Pattern {
  const program = compilePatternProgram(source, flags, location);
  const unicode = flags.includes('u');
  return { test: (text, allowance) => run(program, text, unicode, allowance) };
}

function run(program: readonly PatternInstruction[], text: string, unicode: boolean, allowance: Allowance): boolean {
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
