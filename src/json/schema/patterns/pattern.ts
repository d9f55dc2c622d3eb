import { createSchemaError } from '../json-schema.js';
import { compilePatternProgram } from './pattern-program.js';
import type { PatternInstruction } from './pattern-program.js';

/** The steps that a check may still use; it stops when negative. */
export interface Allowance {
  steps: number;
}

/** A compiled `pattern`. */
export interface Pattern {
  readonly test: (text: string, allowance: Allowance) => boolean;
}

/** Turns the source of a `pattern` into a test; `location` is for the error. */
export type PatternCompiler = (source: string, location: string) => Pattern;

/**
 * Compiles a pattern to a native regular expression: fast, but a bad pattern can take exponential time, so only for trusted
 * schemas. A pattern that is only valid without the `u` flag (`[\w-.]`) is compiled without it.
 */
export function compileNativePattern(source: string, location: string): Pattern {
  const expression = toRegExp(source, location);
  return { test: (text) => expression.test(text) };
}

/** Maximum number of instructions for all patterns of one untrusted schema. Each takes about a hundred bytes. */
const MAX_INSTRUCTIONS = 100_000;

/**
 * Creates a compiler of linear-time matchers for one untrusted schema's patterns. Equal patterns are compiled once, and
 * all patterns share a bound.
 */
export function createSafePatternCompiler(): PatternCompiler {
  const compiled = new Map<string, Pattern>();
  let instructions = 0;
  return (source, location) => {
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const { flags } = toRegExp(source, location);
    const program = compilePatternProgram(source, flags, location);
    instructions += program.length;
    if (instructions > MAX_INSTRUCTIONS)
      throw createSchemaError(
        location,
        'the patterns of this schema are too large in total; use fewer or shorter ones',
      );
    const pattern = createLinearPattern(program, flags.includes('u'));
    compiled.set(source, pattern);
    return pattern;
  };
}

/** Converts a pattern to a regular expression; throws `INVALID_SCHEMA` if it is invalid. */
export function toRegExp(source: string, location: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    try {
      return new RegExp(source);
    } catch (cause) {
      const shown = JSON.stringify(source.slice(0, 80));
      throw createSchemaError(location, `${shown} is not a valid regular expression`, cause);
    }
  }
}

/**
 * Matches by moving a set of states along the string: each character visits every instruction at most once, and each
 * visit is charged. No pattern can make it slower.
 */
function createLinearPattern(program: readonly PatternInstruction[], unicode: boolean): Pattern {
  // The last visit of each instruction. Shared by all tests of this pattern: clearing it for each short string would
  // cost more than matching.
  const visits = new Int32Array(program.length);
  let visit = 0;
  return { test };

  function test(text: string, allowance: Allowance): boolean {
    let active: number[] = [];
    let next: number[] = [];
    const stack: number[] = [];
    let accepted = false;
    let isBoundary = false;
    startPosition(0);
    for (let index = 0, width = 1; index <= text.length; index += width) {
      add(active, 0, index);
      if (accepted) return true;
      if (index === text.length || allowance.steps < 0) return false;
      const code = unicode ? (text.codePointAt(index) ?? 0) : text.charCodeAt(index);
      width = code > 0xffff ? 2 : 1;
      startPosition(index + width);
      for (const state of active) {
        const instruction = program[state];
        if (instruction?.op === 'character' && instruction.matches(code)) add(next, state + 1, index + width);
      }
      if (accepted) return true;
      [active, next] = [next, active];
      next.length = 0;
    }
    return false;

    function startPosition(index: number): void {
      visit = visit === LAST_VISIT ? 1 : visit + 1;
      if (visit === 1) visits.fill(0);
      isBoundary = isWordAt(text, index - 1) !== isWordAt(text, index);
    }

    /** Follows all instructions that consume no character. */
    function add(states: number[], from: number, index: number): void {
      stack.push(from);
      for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
        allowance.steps -= 1;
        if (visits[state] === visit) continue;
        visits[state] = visit;
        const instruction = program[state];
        if (instruction === undefined) continue;
        if (instruction.op === 'character') states.push(state);
        else if (instruction.op === 'split') stack.push(instruction.second, instruction.first);
        else if (instruction.op === 'accept') accepted = true;
        else if (isSatisfied(instruction.kind, index)) stack.push(state + 1);
      }
    }

    function isSatisfied(kind: 'start' | 'end' | 'boundary' | 'inside', index: number): boolean {
      switch (kind) {
        case 'start':
          return index === 0;
        case 'end':
          return index === text.length;
        case 'boundary':
          return isBoundary;
        case 'inside':
          return !isBoundary;
      }
    }
  }
}

/** Largest number in an `Int32Array`. */
const LAST_VISIT = 0x7fff_ffff;

function isWordAt(text: string, index: number): boolean {
  return /^\w$/.test(text.charAt(index));
}
