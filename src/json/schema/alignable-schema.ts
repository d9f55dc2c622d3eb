import type { AlignableSchema, SchemaIssue, StandardResult } from '../index.js';
import { createPartChecks } from './views/check-part.js';
import { createAligner } from './align/create-aligner.js';
import { createViews } from './views/schema-views.js';
import type { ViewSource } from './views/schema-views.js';
import { isJsonObject } from './json-schema.js';
import type { CheckRun, CompiledSchema } from './interpreter/check.js';
import type { Allowance } from './patterns/pattern.js';
import type { SchemaChecks } from './interpreter/compile-schema.js';

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
    mayGrow: (value, text) => getAlignment().mayGrow?.(value, text) === true,
    checkPart: (path, value) => getAlignment().checkPart(path, value),
  };
}

function createAlignment(source: ViewSource, checks: SchemaChecks, steps: number): AlignableSchema['~sluice'] {
  const views = createViews(source, checks);
  return { ...createAligner(views, checks, steps), ...createPartChecks(views, checks) };
}
