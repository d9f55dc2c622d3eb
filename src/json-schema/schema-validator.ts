import type { SchemaIssue, StandardResult } from '../json/index.js';
import type { CheckRun, CompiledSchema } from './interpreter/check.js';

/** Checks a value: itself, or the issues. Never throws, never changes the value. */
export type SchemaValidator = (value: unknown) => StandardResult<unknown>;

/** Steps for one value under a schema from a stranger: some tenths of a second, enough for megabytes of JSON. */
export const UNTRUSTED_STEPS = 5_000_000;

/** Steps for one alignment to a schema of the program itself. */
export const TRUSTED_ALIGNMENT_STEPS = 50_000_000;

/** For a verdict without a reason. */
export const UNEXPLAINED: SchemaIssue = { path: [], message: 'does not match the schema' };

/** Makes a validator of a compiled schema that gives up, with an issue, after so many steps. */
export function validateWithChecks(schema: CompiledSchema, steps: number): SchemaValidator {
  return (value) => {
    const issues: SchemaIssue[] = [];
    const run: CheckRun = { steps, path: [], issues, explaining: 0 };
    try {
      const passed = schema.check(value, run, undefined);
      if (run.steps < 0) return { issues: [{ path: [], message: `checking this takes more than ${steps} steps` }] };
      if (passed) return { value };
      return { issues: issues.length > 0 ? issues : [UNEXPLAINED] };
    } catch (error) {
      // Only values far deeper than the readers allow get here: they exhaust the call stack.
      if (error instanceof RangeError) return { issues: [{ path: [], message: 'nested too deeply to be checked' }] };
      throw error;
    }
  };
}
