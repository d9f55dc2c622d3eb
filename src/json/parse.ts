import { SluiceError } from '../base/index.js';
import { checkOptions, type ParseOptions, type Profile, type TextInput } from './options.js';
import type { ParseError } from './parse-error.js';
import { type CheckResult, runPipeline } from './pipeline.js';
import { failWith, NO_TAG, type ParseFailure, type ParseResult, type ParseSuccess } from './result.js';
import { checkSchema, requireAlignment, type Aligner, type StandardResult, type StandardSchema } from './schema.js';

/**
 * Finds, reads and validates the JSON value in a model's or agent's output. Never throws on bad input; an asynchronous schema
 * is misuse and throws `ASYNC_SCHEMA` (use {@link parseAsync}).
 *
 * @example
 * const result = parse('Sure! ```json\n{"line": 3,}\n```', z.object({ line: z.number() }))
 * if (result.ok) console.log(result.value.line, result.repairs)
 */
export function parse(
  raw: TextInput,
  schema?: undefined,
  options?: WithoutComment,
): ParseSuccess<unknown> | ParseFailure;
export function parse<T>(
  raw: TextInput,
  schema: StandardSchema<unknown, T>,
  options?: WithoutComment,
): ParseSuccess<T> | ParseFailure;
export function parse(raw: TextInput, schema?: undefined, options?: ParseOptions): ParseResult<unknown>;
export function parse<T>(raw: TextInput, schema: StandardSchema<unknown, T>, options?: ParseOptions): ParseResult<T>;
export function parse<T>(
  raw: TextInput,
  schema: StandardSchema<unknown, T> | undefined,
  options?: ParseOptions,
): ParseResult<T>;
export function parse(raw: TextInput, schema?: StandardSchema, options: ParseOptions = {}): ParseResult<unknown> {
  checkOptions(options);
  const pipeline = runPipeline(raw, schema, findAligner(schema, options), options);
  let step = pipeline.next();
  while (!step.done) {
    const result = validate(schema, step.value);
    if (result instanceof Promise) throw new SluiceError('ASYNC_SCHEMA', 'The schema is asynchronous. Use parseAsync.');
    step = pipeline.next(toCheckResult(result));
  }
  return step.value;
}

/**
 * {@link parse} for asynchronous schemas.
 *
 * @example
 * const result = await parseAsync(text, z.object({ user: z.string().refine(existsInDatabase) }))
 */
export async function parseAsync<T>(
  raw: TextInput,
  schema?: StandardSchema<unknown, T>,
  options: ParseOptions = {},
): Promise<ParseResult<T>> {
  checkOptions(options);
  const pipeline = runPipeline(raw, schema, findAligner(schema, options), options);
  let step = pipeline.next();
  while (!step.done) {
    step = pipeline.next(toCheckResult(await validate(schema, step.value)));
  }
  return step.value as ParseResult<T>;
}

/**
 * Like {@link parse}, but returns the value itself and throws a {@link ParseError} on failure. A comment (profile
 * `tagged` without a tag) is thrown as `NO_JSON`.
 *
 * @example
 * const { line } = parseOrThrow('{"line": 3}', z.object({ line: z.number() }))
 */
export function parseOrThrow(raw: TextInput, schema?: undefined, options?: ParseOptions): unknown;
export function parseOrThrow<T>(raw: TextInput, schema: StandardSchema<unknown, T>, options?: ParseOptions): T;
export function parseOrThrow<T>(raw: TextInput, schema?: StandardSchema<unknown, T>, options: ParseOptions = {}): T {
  const result = parse(raw, schema, options);
  if (result.ok) return result.value;
  throw result.status === 'failed' ? result.error : createCommentError(options.label);
}

/** Options for which a result is a value or a failure: only profile `tagged` returns comments. */
type WithoutComment = ParseOptions & { readonly profile?: Exclude<Profile, 'tagged'> };

/** The error for a comment where a value was needed. */
export function createCommentError(label: string | undefined): ParseError {
  return failWith([{ code: 'NO_JSON', message: NO_TAG }], label).error;
}

function findAligner(schema: StandardSchema | undefined, { align }: ParseOptions): Aligner | undefined {
  checkSchema(schema);
  return align ? requireAlignment(schema, 'align', 'ALIGN_UNSUPPORTED') : undefined;
}

function validate(
  schema: StandardSchema | undefined,
  value: unknown,
): StandardResult<unknown> | Promise<StandardResult<unknown>> {
  return schema?.['~standard'].validate(value) ?? { value };
}

function toCheckResult(result: StandardResult<unknown>): CheckResult {
  if (!result.issues) return { value: result.value };
  return {
    issues: result.issues.map(({ message, path = [] }) => ({
      message,
      // Some libraries return a subclass of Array, and `map` would create an instance of it.
      path: Array.from(path, (step) => {
        const key = typeof step === 'object' ? step.key : step;
        return typeof key === 'number' ? key : String(key);
      }),
    })),
  };
}
