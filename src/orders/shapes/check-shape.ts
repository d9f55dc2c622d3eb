import type { StandardSchema } from '../../json/index.js';
import type { Problem } from '../../records/index.js';

/** The value according to its schema, or all its problems. */
export type CheckedShape<T> =
  | { readonly value: T; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

/** Checks a value that came from outside. `advise` may replace the schema's message by a clearer one. */
export function checkShape<T>(
  schema: StandardSchema<unknown, T>,
  value: unknown,
  advise?: (path: readonly string[]) => string | undefined,
): CheckedShape<T> {
  const checked = schema['~standard'].validate(value);
  if (checked instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (checked.issues === undefined) return { value: checked.value };
  const problems = checked.issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
    return invalidValue(path.join('.'), advise?.(path) ?? issue.message);
  });
  // Several objections to one value become one piece of advice.
  return {
    problems: [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()],
  };
}

/** A value that is not what its place asks for. */
export function invalidValue(path: string, message: string): Problem {
  return { code: 'INVALID_VALUE', message, ...(path === '' ? {} : { path }) };
}
