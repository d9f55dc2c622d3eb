import type { StandardSchema } from '../../json/index.js';
import type { Problem } from '../../store/records/index.js';

/** A valid value, or all problems. */
export type CheckedShape<T> =
  | { readonly value: T; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

/** Validates an untrusted value. `advise` can replace the schema's message with a clearer one. */
export function checkShape<T>(
  schema: StandardSchema<unknown, T>,
  value: unknown,
  advise?: (path: readonly string[]) => string | undefined,
): CheckedShape<T> {
  const validated = schema['~standard'].validate(value);
  if (validated instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (validated.issues === undefined) return { value: validated.value };
  const problems = validated.issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return createValueProblem(path.join('.'), advise?.(path) ?? issue.message);
  });
  // Duplicate advice about a value is dropped.
  return {
    problems: [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()],
  };
}

/** Creates the problem for a value that is not allowed at its path. */
export function createValueProblem(path: string, message: string): Problem {
  return { code: 'INVALID_VALUE', message, ...(path === '' ? {} : { path }) };
}
