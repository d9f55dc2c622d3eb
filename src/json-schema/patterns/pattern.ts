import { invalidSchema } from '../json-schema.js';
import { compilePatternProgram } from './pattern-program.js';
import type { PatternInstruction } from './pattern-program.js';

/** Steps a check may still take; going below zero ends it. */
export interface Allowance {
  steps: number;
}

/** A compiled `pattern`. */
export interface Pattern {
  readonly test: (text: string, allowance: Allowance) => boolean;
}

/** Turns the text of a `pattern` into a test; `location` is for the error. */
export type PatternCompiler = (source: string, location: string) => Pattern;

/**
 * The engine's own regular expressions: fast, but a bad pattern can take exponential time, so only for trusted
 * schemas. A pattern that is only valid without the `u` flag (`[\w-.]`) is taken without it.
 */
export function compileNativePattern(source: string, location: string): Pattern {
  const expression = toRegExp(source, location);
  return { test: (text) => expression.test(text) };
}

/** The same as a linear-time matcher, for untrusted schemas. */
export function compileSafePattern(source: string, location: string): Pattern {
  return compileLinearPattern(source, toRegExp(source, location).flags, location);
}

/** The pattern as a regular expression; throws `INVALID_SCHEMA` if it is not one. */
export function toRegExp(source: string, location: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    try {
      return new RegExp(source);
    } catch (cause) {
      throw invalidSchema(location, `${JSON.stringify(source.slice(0, 80))} is not a valid regular expression`, cause);
    }
  }
}

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
