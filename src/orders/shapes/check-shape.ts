import type { StandardSchema } from '../../json/index.js';
import { WORKER_NAME, type Problem } from '../../store/records/index.js';
import { createInvalidError } from '../orders-error.js';

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

/** A setting that maps names to values of one shape. */
interface NamedSetting<T> {
  readonly setting: string;
  /** The advice for a value that is not an object. */
  readonly expected: string;
  readonly schema: StandardSchema<unknown, T>;
  /** Finds the problems of a valid value that its schema cannot express. */
  readonly findProblems: (value: T) => Iterable<Problem>;
}

const NAME = new RegExp(WORKER_NAME.pattern);

/** Validates a setting that maps names to values. Throws `INVALID_CONFIG` with all problems. */
export function readNamed<T>(
  value: unknown,
  { setting, expected, schema, findProblems }: NamedSetting<T>,
): Readonly<Record<string, T>> {
  const fail = (problems: readonly Problem[]) => createInvalidError('INVALID_CONFIG', `setting "${setting}"`, problems);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail([createValueProblem('', expected)]);
  const problems: Problem[] = [];
  const read: [string, T][] = [];
  for (const [name, entry] of Object.entries(value)) {
    const checked = checkShape(schema, entry);
    if (name.length > WORKER_NAME.maxLength || !NAME.test(name)) {
      const advice = `use letters, digits, dots, - and _ for a name, at most ${WORKER_NAME.maxLength} characters`;
      problems.push(createValueProblem(name, advice));
      continue;
    }
    const found = checked.problems ?? [...findProblems(checked.value)];
    problems.push(...found.map((one) => ({ ...one, path: one.path === undefined ? name : `${name}.${one.path}` })));
    if (checked.problems === undefined) read.push([name, checked.value]);
  }
  if (problems.length > 0) throw fail(problems);
  return Object.fromEntries(read);
}
