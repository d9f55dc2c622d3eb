import type { SchemaIssue } from '../../json/index.js';
import type { SchemaObject } from '../json-schema.js';
import type { PatternCompiler } from '../patterns/pattern.js';

/** Most issues one validation reports; after that it stops. */
const MAX_ISSUES = 32;

/** State of one validation. */
export interface CheckRun {
  /** Steps left; below zero the whole validation has failed, whatever the schema says. */
  steps: number;
  /** Where the value being checked stands. */
  readonly path: (string | number)[];
  /** Where issues go; undefined while only the verdict is wanted, as inside `anyOf`. */
  issues: SchemaIssue[] | undefined;
  /** How many alternatives are being explained inside one another. */
  explaining: number;
}

/** Keys and items of the value that a schema has already evaluated, for `unevaluatedProperties` and `-Items`. */
export interface Evaluated {
  readonly keys: Set<string>;
  /** All items before this index. */
  items: number;
  readonly contained: Set<number>;
}

/** One schema, or one keyword of it, as a function: true if the value passes. */
export type Check = (value: unknown, run: CheckRun, evaluated: Evaluated | undefined) => boolean;

/**
 * A schema's check, made before it is known what it does: schemas refer to each other in circles. Calling through
 * the box costs no call on the stack, and a value may be a thousand levels deep.
 */
export interface CompiledSchema {
  check: Check;
}

/** The context in which the keywords of one schema object are compiled. */
export interface KeywordContext {
  readonly schema: SchemaObject;
  readonly location: string;
  readonly compile: (node: unknown) => CompiledSchema;
  readonly follow: (reference: string) => CompiledSchema;
  readonly compilePattern: PatternCompiler;
}

/** Records an issue at the current place, or below it at `key`. Always false, so that a check can return it. */
export function fail(run: CheckRun, message: string, key?: string | number): false {
  if (run.issues !== undefined && run.issues.length < MAX_ISSUES) {
    run.issues.push({ message, path: key === undefined ? [...run.path] : [...run.path, key] });
  }
  return false;
}

/** Whether a failed check may stop: the verdict is known and no further issues are wanted. */
export function isSettled(run: CheckRun): boolean {
  return run.issues === undefined || run.issues.length >= MAX_ISSUES || run.steps < 0;
}

/** Asks for the verdict only. */
export function passes(schema: CompiledSchema, value: unknown, run: CheckRun): boolean {
  const issues = run.issues;
  run.issues = undefined;
  const passed = schema.check(value, run, undefined);
  run.issues = issues;
  return passed;
}

/** A record in which nothing has been looked at yet. */
export function nothingEvaluated(): Evaluated {
  return { keys: new Set(), items: 0, contained: new Set() };
}

/** Adds what a branch that passed has looked at. */
export function addEvaluated(evaluated: Evaluated, more: Evaluated): void {
  for (const key of more.keys) evaluated.keys.add(key);
  for (const index of more.contained) evaluated.contained.add(index);
  evaluated.items = Math.max(evaluated.items, more.items);
}
