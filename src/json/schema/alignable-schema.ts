import type { AlignableSchema, SchemaIssue, StandardResult, Path } from '../index.js';
import { createAligner } from './align/create-aligner.js';
import { findGap } from './align/find-gap.js';
import {
  createViews,
  type ViewSource,
  listSchemasForKey,
  type AlignmentView,
  type Conjunction,
  type SchemaViews,
} from './views/schema-views.js';
import { isJsonObject } from './json-schema.js';
import type { CheckRun, CompiledSchema } from './interpreter/check.js';
import type { Allowance } from './patterns/pattern.js';
import type { SchemaChecks } from './interpreter/compile-schema.js';
import { isNamePrefix } from './text/choices.js';
import { foldCase, MAX_TEXT_LENGTH } from './text/spelling.js';

/** Validates a value: returns it, or the issues. Never throws, never changes the value. */
export type SchemaValidator = (value: unknown) => StandardResult<unknown>;

/** Maximum number of steps for one value and an untrusted schema: up to a few seconds, enough for megabytes of JSON. */
export const UNTRUSTED_STEPS = 5_000_000;

/** Maximum number of steps for one alignment to a trusted schema. */
export const TRUSTED_ALIGNMENT_STEPS = 50_000_000;

/** The issue for a rejection without a known reason. */
const UNEXPLAINED: SchemaIssue = { path: [], message: 'does not match the schema' };

/**
 * Creates a validator from a compiled schema that stops, with an issue, after this many steps. Validations that share
 * an allowance draw their steps from it.
 */
export function createValidator(schema: CompiledSchema, maxSteps: number, allowance?: Allowance): SchemaValidator {
  return (value) => {
    const issues: SchemaIssue[] = [];
    const steps = Math.min(maxSteps, allowance?.steps ?? maxSteps);
    const run: CheckRun = { steps, path: [], issues, explaining: 0 };
    try {
      const passed = schema.check(value, run, undefined);
      if (run.steps < 0) {
        const limit = steps < maxSteps ? 'the shared allowance of steps' : `${steps} steps`;
        return { issues: [{ path: [], message: `validation takes more than ${limit}` }] };
      }
      if (passed) return { value };
      return { issues: issues.length > 0 ? issues : [UNEXPLAINED] };
    } catch (error) {
      // Only values far deeper than the readers allow get here: they exhaust the call stack.
      if (error instanceof RangeError) return { issues: [{ path: [], message: 'nested too deeply to be checked' }] };
      throw error;
    } finally {
      if (allowance !== undefined) allowance.steps -= steps - run.steps;
    }
  };
}

/** Combines a validator and the aligner of the same document into a schema for `parse`. */
export function toAlignableSchema<T>(
  source: ViewSource,
  checks: SchemaChecks,
  validate: SchemaValidator,
  steps: number,
): AlignableSchema<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      // Only the caller can name the value type: a schema that is plain data has none.
      validate: validate as (value: unknown) => StandardResult<T>,
    },
    '~sluice': createLazyAlignment(source, checks, steps),
  };
}

/** Creates a schema's alignment on first use: most schemas only validate. */
export function createLazyAlignment(
  source: ViewSource,
  checks: SchemaChecks,
  steps: number,
): AlignableSchema['~sluice'] {
  let alignment: AlignableSchema['~sluice'] | undefined;
  const getAlignment = (): AlignableSchema['~sluice'] => (alignment ??= createAlignment(source, checks, steps));
  const { node } = source.document.root;
  return {
    ...(isJsonObject(node) && { jsonSchema: node }),
    align: (value, from) => getAlignment().align(value, from),
    readText: (text) => getAlignment().readText?.(text) ?? { value: text, changes: [] },
    findItem: (list, candidates) => getAlignment().findItem?.(list, candidates),
    findGap,
    mayGrow: (value, text) => getAlignment().mayGrow?.(value, text) === true,
    checkPart: (path, value) => getAlignment().checkPart(path, value),
  };
}

function createAlignment(source: ViewSource, checks: SchemaChecks, steps: number): AlignableSchema['~sluice'] {
  const views = createViews(source, checks);
  return { ...createAligner(views, checks, steps), ...createPartChecks(views, checks) };
}

/** Maximum number of combinations of alternatives at one path; beyond it no issues are reported. */
const MAX_COMBINATIONS = 64;
/** Maximum number of steps for one part. */
const MAX_STEPS = 5_000_000;

/** Checks for parts of a value, before the rest is known. */
interface PartChecks {
  /** Reports the issues of a finished part of a value; empty if any alternative of the schema accepts it. */
  readonly checkPart: (path: Path, value: unknown) => readonly SchemaIssue[];
  /**
   * Whether the last string of a truncated value could be the start of a longer enum member: `"open` if `open_late` is
   * allowed too.
   */
  readonly mayGrow: (value: unknown, text: string) => boolean;
}

/** Creates the checks for parts of a value. */
function createPartChecks(views: SchemaViews, checks: SchemaChecks): PartChecks {
  return { checkPart, mayGrow };

  function checkPart(path: Path, value: unknown): readonly SchemaIssue[] {
    views.startValue();
    const { combinations, forbiddenStep } = follow(path);
    if (forbiddenStep !== undefined)
      return [{ path: [...path], message: `no value is allowed at ${JSON.stringify(forbiddenStep)}` }];
    let first: readonly SchemaIssue[] = [];
    for (const nodes of combinations) {
      const issues = findIssues(nodes, path, value);
      if (issues.length === 0) return [];
      if (first.length === 0) first = issues;
    }
    return first;
  }

  function mayGrow(value: unknown, text: string): boolean {
    const { path, leaf } = findLastScalar(value);
    if (typeof leaf !== 'string' || leaf === '' || leaf.length > MAX_TEXT_LENGTH) return false;
    if (!foldCase(text.slice(-2 * MAX_TEXT_LENGTH)).endsWith(foldCase(leaf))) return false;
    views.startValue();
    const members = expand(follow(path).combinations.map((nodes) => views.getView(nodes, ''))) ?? [];
    const names = members.flatMap((view) => view.members?.flatMap((member) => member.names) ?? []);
    return isNamePrefix(leaf, names);
  }

  /** Finds the schemas at a path, one conjunction per combination of alternatives; empty if there are too many. */
  function follow(path: Path): {
    readonly combinations: readonly Conjunction[];
    readonly forbiddenStep?: string | number;
  } {
    const allowance: Allowance = { steps: MAX_STEPS };
    let combinations: readonly Conjunction[] = [views.root.nodes];
    for (const step of path) {
      const expanded = expand(combinations.map((nodes) => views.getView(nodes, '')));
      if (expanded === undefined) return { combinations: [] };
      combinations = expanded.flatMap((view) => enter(view, step, allowance));
      if (allowance.steps < 0) return { combinations: [] };
      if (combinations.length === 0) return { combinations, forbiddenStep: step };
    }
    return { combinations };
  }

  /** Lists every combination of alternatives; undefined if there are too many. */
  function expand(from: readonly AlignmentView[]): readonly AlignmentView[] | undefined {
    const waiting = [...from];
    const expanded: AlignmentView[] = [];
    for (let view = waiting.pop(); view !== undefined; view = waiting.pop()) {
      const alternatives = views.getAlternatives(view);
      if (alternatives === undefined) expanded.push(view);
      else waiting.push(...alternatives);
      if (alternatives?.length === 0 || waiting.length + expanded.length > MAX_COMBINATIONS) return undefined;
    }
    return expanded;
  }

  function findIssues(nodes: Conjunction, path: Path, value: unknown): readonly SchemaIssue[] {
    const issues: SchemaIssue[] = [];
    const run: CheckRun = { steps: MAX_STEPS, path: [...path], issues, explaining: 0 };
    try {
      for (const node of nodes) checks(node).check(value, run, undefined);
    } catch (error) {
      // A long chain of references exhausts the call stack. The complete value is checked and rejected later.
      if (error instanceof RangeError) return [];
      throw error;
    }
    return run.steps < 0 ? [] : issues;
  }
}

/** Lists the schemas one step deeper; empty if the view does not allow the step. */
function enter(view: AlignmentView, step: string | number, allowance: Allowance): Conjunction[] {
  const isKey = typeof step === 'string';
  if (view.nodes.includes(false)) return [];
  if (view.types.length > 0 && !view.types.includes(isKey ? 'object' : 'array')) return [];
  if (!isKey) return [view.prefix[step] ?? view.items];
  const nodes = listSchemasForKey(view, step, allowance);
  return nodes === undefined ? [] : [nodes];
}

/** Finds the last scalar of a value and its path. */
function findLastScalar(value: unknown): { readonly path: Path; readonly leaf: unknown } {
  const path: (string | number)[] = [];
  let leaf = value;
  while (Array.isArray(leaf) || isJsonObject(leaf)) {
    const step = Array.isArray(leaf) ? leaf.length - 1 : Object.keys(leaf).at(-1);
    if (step === undefined || step === -1) break;
    path.push(step);
    leaf = Array.isArray(leaf) ? leaf[Number(step)] : leaf[step];
  }
  return { path, leaf };
}
