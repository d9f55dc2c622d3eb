import type { SchemaIssue } from '../../index.js';
import type { SchemaObject } from '../json-schema.js';
import { toEqualityKey } from '../json-values.js';
import type { PatternCompiler } from '../patterns/pattern.js';

/** Maximum number of issues in one validation, which then stops. */
const MAX_ISSUES = 32;

/** The state of one validation. */
export interface CheckRun {
  /**
   * Steps left; if negative, the validation has failed. A check whose time depends on the size of the value or the
   * schema must subtract that size: a schema can repeat it thousands of times.
   */
  steps: number;
  /** Path of the value being checked. */
  readonly path: (string | number)[];
  /** The issues so far; undefined while only the outcome is needed, as inside `anyOf`. */
  issues: SchemaIssue[] | undefined;
  /** Nesting depth of the alternatives being rechecked to report their issues. */
  explaining: number;
}

/** Keys and items of the value that a schema has already evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Evaluated {
  readonly keys: Set<string>;
  /** All items before this index. */
  items: number;
  /** Indexes of the items that match `contains`. */
  readonly contained: Set<number>;
}

/** A schema, or one of its keywords, as a function: true if the value passes. */
export type Check = (value: unknown, run: CheckRun, evaluated: Evaluated | undefined) => boolean;

/**
 * A schema's check, as a property that is set later because schemas can be mutually recursive. Calling it through this
 * object adds no stack frame, and a value can be a thousand levels deep.
 */
export interface CompiledSchema {
  check: Check;
}

/** The context for compiling one schema object's keywords. */
export interface KeywordContext {
  readonly schema: SchemaObject;
  readonly location: string;
  readonly compile: (node: unknown) => CompiledSchema;
  readonly follow: (reference: string) => CompiledSchema;
  readonly compilePattern: PatternCompiler;
}

/**
 * Records an issue at the current path, or at `key` below it. Always returns false, so a check can return its result.
 */
export function fail(run: CheckRun, message: string, key?: string | number): false {
  if (run.issues !== undefined && run.issues.length < MAX_ISSUES) {
    run.issues.push({ message, path: key === undefined ? [...run.path] : [...run.path, key] });
  }
  return false;
}

/** Whether a failed check may stop, because no further issues are needed. */
export function isSettled(run: CheckRun): boolean {
  return run.issues === undefined || run.issues.length >= MAX_ISSUES || run.steps < 0;
}

/** Creates an empty record of evaluated keys and items. */
export function createEvaluated(): Evaluated {
  return { keys: new Set(), items: 0, contained: new Set() };
}

/** Whether a part of a value passes; its issues are located at `key`. */
export function checkPart(schema: CompiledSchema, part: unknown, run: CheckRun, key: string | number): boolean {
  run.steps -= 1;
  run.path.push(key);
  const passed = schema.check(part, run, undefined);
  run.path.pop();
  return passed;
}

/** Whether a branch passes, without recording issues; what it evaluates counts only if it does. */
export function checkBranch(
  branch: CompiledSchema,
  value: unknown,
  run: CheckRun,
  evaluated: Evaluated | undefined,
): boolean {
  const { issues } = run;
  const covered = evaluated === undefined ? undefined : createEvaluated();
  run.issues = undefined;
  const passed = branch.check(value, run, covered);
  run.issues = issues;
  if (passed && evaluated !== undefined && covered !== undefined) addEvaluated(evaluated, covered, run);
  return passed;
}

/** Serializes a value for comparisons, like `toEqualityKey`, and subtracts the steps for that. */
export function createEqualityKey(value: unknown, run: CheckRun): string {
  const key = toEqualityKey(value);
  run.steps -= key.length >> 2;
  return key;
}

/** Adds the keys and items that a branch evaluated; only for a branch that passed. */
export function addEvaluated(evaluated: Evaluated, added: Evaluated, run: CheckRun): void {
  run.steps -= added.keys.size + added.contained.size;
  for (const key of added.keys) evaluated.keys.add(key);
  for (const index of added.contained) evaluated.contained.add(index);
  evaluated.items = Math.max(evaluated.items, added.items);
}
