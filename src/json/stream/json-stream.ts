import { SluiceError } from '../../base/index.js';
import { checkOptions, OPTIONS, type ParseOptions } from '../options.js';
import { resolveSettings } from '../read-span.js';
import { parse } from '../parse.js';
import { createReaderPolicy } from '../reader/reader-policy.js';
import { TextBuilder } from '../reader/source.js';
import { buildPath, type ValueLocation } from '../reader/value-builder.js';
import type { Path } from '../repair.js';
import { describeMismatch, failWith, type ParseResult } from '../result.js';
import { checkSchema, requireAlignment, type SchemaIssue, type StandardSchema } from '../schema.js';
import { readChunk, type ModelChunk } from './model-chunk.js';
import { ValueFollower, type PartialOptions } from './value-follower.js';

/** Options of {@link createJsonStream}; all options of `parse` too. */
export interface JsonStreamOptions extends ParseOptions {
  readonly partial?: PartialOptions;
  /** Ignore text after the first complete value. Default false. */
  readonly stopWhenComplete?: boolean;
  /** Check finished parts immediately; requires a schema from `sluice/json-schema`. Default false. */
  readonly validatePartial?: boolean;
}

/** The value so far. It grows in place: use `copy()` to preserve a state. */
export interface JsonSnapshot<T, Input = T> {
  readonly value: DeepPartial<Input> | undefined;
  /** The paths where something appeared or grew with the last push; `[]` alone if the root was replaced. */
  readonly changed: readonly Path[];
  /** The value is finished; only a later tag, channel or line could replace it. */
  readonly complete: boolean;
  /** The outcome, once it is known: at the end, or when a finished part violated the schema (`validatePartial`). */
  readonly result?: ParseResult<T>;
}

/** A growing value read from a text stream. It is not validated yet, so it has the schema's input type. */
export interface JsonStream<T, Input = T> {
  /** Reads the next chunk of text, split anywhere, or the next event of a model's stream; returns the value so far. */
  push(chunk: ModelChunk): JsonSnapshot<T, Input>;
  /** Ends the input; returns the same result as `parse` for the whole input. */
  end(): ParseResult<T>;
  /** Calls `listener` with every finished value whose path matches, such as `items.*` for the items of `items`. */
  on(pattern: string, listener: (value: unknown, path: Path) => void): void;
  /** A copy of the value so far that later pushes do not change. */
  copy(): DeepPartial<Input> | undefined;
}

/**
 * Reads JSON while a model is still writing it. Thinking, tags, fences and prose are skipped; each character is read
 * once; `end` returns what `parse` returns for the whole input.
 *
 * @example
 * const stream = createJsonStream(z.object({ items: z.array(z.string()) }))
 * stream.on('items.*', (item) => console.log('finished', item))
 * for await (const chunk of answer) render(stream.push(chunk).value)
 * const result = stream.end()
 */
export function createJsonStream(schema?: undefined, options?: JsonStreamOptions): JsonStream<unknown>;
export function createJsonStream<T, Input = T>(
  schema: StandardSchema<Input, T>,
  options?: JsonStreamOptions,
): JsonStream<T, Input>;
export function createJsonStream<T, Input = T>(
  schema: StandardSchema<Input, T> | undefined,
  options?: JsonStreamOptions,
): JsonStream<T, Input>;
export function createJsonStream<T, Input>(
  schema?: StandardSchema<Input, T>,
  options: JsonStreamOptions = {},
): JsonStream<T, Input> {
  checkSchema(schema);
  const added = { partial: 'object', stopWhenComplete: 'boolean', validatePartial: 'boolean' };
  checkOptions(options, { ...OPTIONS, ...added } satisfies Record<keyof JsonStreamOptions, string>);
  const { partial, stopWhenComplete = false, validatePartial = false, ...parsing } = options;
  const settings = resolveSettings({ ...parsing, profile: 'default' }, schema !== undefined);
  const checkPart = validatePartial
    ? requireAlignment(schema, 'validatePartial', 'PARTIAL_UNSUPPORTED').checkPart
    : undefined;
  const shown: PartialOptions = { strings: true, ...partial };
  const transcript = new TextBuilder();
  const decoder = new TextDecoder();
  const subscriptions: { readonly fits: PathPattern; readonly listener: (value: unknown, path: Path) => void }[] = [];
  let changes: ValueLocation[] = [];
  let issues: readonly SchemaIssue[] = [];
  let remaining = settings.limits.bytes;
  let result: ParseResult<T> | undefined;
  let ended = false;
  let isCut = false;
  let refusal: string | undefined;
  const follower = new ValueFollower(createReaderPolicy(settings, settings.repairsInProse, false), {
    changed: (location) => void changes.push(location),
    finished(location, value) {
      for (const { fits, listener } of subscriptions) if (fits(location)) listener(value, buildPath(location));
      if (issues.length === 0) issues = checkPart?.(buildPath(location), value) ?? [];
    },
  });

  /** Input beyond the byte limit is neither read nor stored; `end` then reports the limit. */
  const consume = (text: string): void => {
    if (result !== undefined || (stopWhenComplete && follower.complete)) return;
    if (remaining >= 0) transcript.append(text);
    remaining -= text.length;
    if (remaining < 0) return;
    follower.push(text);
    follower.showUnfinished(shown);
    if (issues.length > 0)
      result = failWith([{ ...describeMismatch('A finished part', issues), value: follower.value }], parsing.label);
  };

  /** A value whose stream reports a refusal or the output limit is not the whole answer. */
  const judgeEnd = (whole: ParseResult<T>): ParseResult<T> => {
    if (refusal !== undefined)
      return failWith([{ code: 'REFUSED', message: `The model refused to answer: ${refusal}` }], parsing.label);
    if (!isCut || !whole.ok || parsing.allowPartial) return whole;
    return failWith(
      [{ code: 'TRUNCATED', message: 'The model stopped at its output limit.', value: whole.value }],
      parsing.label,
    );
  };

  return {
    push(chunk) {
      if (ended) throw new SluiceError('STREAM_ENDED', 'push was called after end(). Create a stream for each text.');
      const locations = (changes = []);
      const reading = readChunk(chunk);
      const { text } = reading;
      isCut ||= reading.isCut === true;
      refusal ??= reading.refusal;
      consume(typeof text === 'string' ? text : decoder.decode(text, { stream: true }));
      return new LocatedSnapshot<T, Input>(
        follower.value as DeepPartial<Input> | undefined,
        locations,
        follower.complete,
        result,
      );
    },
    end() {
      ended = true;
      consume(decoder.decode());
      return (result ??= judgeEnd(parse(transcript.text, schema, parsing)));
    },
    on(pattern, listener) {
      subscriptions.push({ fits: compilePattern(pattern), listener });
    },
    copy: () => structuredClone(follower.value as DeepPartial<Input> | undefined),
  };
}

/** A snapshot that builds its paths on demand: most callers only use the value. A class for speed. */
class LocatedSnapshot<T, Input> implements JsonSnapshot<T, Input> {
  declare readonly value: DeepPartial<Input> | undefined;
  declare readonly complete: boolean;
  declare readonly result?: ParseResult<T>;
  readonly #locations: readonly ValueLocation[];

  constructor(
    value: DeepPartial<Input> | undefined,
    locations: readonly ValueLocation[],
    complete: boolean,
    result: ParseResult<T> | undefined,
  ) {
    this.value = value;
    this.#locations = locations;
    this.complete = complete;
    if (result !== undefined) this.result = result;
  }

  get changed(): readonly Path[] {
    return this.#locations.map(buildPath);
  }
}

/** Whether a location matches a pattern such as `items.*.name`; `*` matches one key or index. */
type PathPattern = (location: ValueLocation) => boolean;

/** Compiles a pattern. A location at another depth is rejected without building its path. */
function compilePattern(pattern: string): PathPattern {
  const steps = pattern === '' ? [] : pattern.split('.');
  return (location) => {
    if (location.container?.openDepth !== steps.length) return false;
    const path = buildPath(location);
    return steps.every((step, index) => step === '*' || step === String(path[index]));
  };
}

/**
 * A value that might still be growing: any member can be missing, any list can be shorter. Branded scalars stay
 * unchanged.
 */
export type DeepPartial<T> = T extends string | number | boolean | bigint | null | undefined
  ? T
  : T extends readonly unknown[]
    ? number extends T['length']
      ? DeepPartial<T[number]>[]
      : { [Index in keyof T]?: DeepPartial<T[Index]> }
    : T extends object
      ? { [Key in keyof T]?: DeepPartial<T[Key]> }
      : T;
