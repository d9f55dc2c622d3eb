import { invalidSchema } from './invalid-schema.js';
import { compileLinearPattern } from './linear-pattern.js';

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

/** The same as a linear-time matcher, for schemas from strangers. */
export function compileSafePattern(source: string, location: string): Pattern {
  return compileLinearPattern(source, toRegExp(source, location).flags, location);
}

/** Tells how a pattern is to be read, and refuses one that is none. */
export function toRegExp(source: string, location: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    try {
      return new RegExp(source);
    } catch (cause) {
      throw invalidSchema(location, `${JSON.stringify(source.slice(0, 80))} is no regular expression`, cause);
    }
  }
}
