import { SluiceError } from '../../base/index.js';
import { checkOptions, type ParseOptions } from '../options.js';
import { resolveSettings } from '../read-span.js';
import { parse } from '../parse.js';
import { createCautiousPolicy } from '../reader/reader-policy.js';
import { GrowingText } from '../reader/source.js';
import { buildPath, type Place } from '../reader/value-builder.js';
import type { Path } from '../repair.js';
import { describeMismatch, failWith, type ParseResult } from '../result.js';
import { checkSchema, requireAlignment, type SchemaIssue, type StandardSchema } from '../schema.js';
import { readChunkText, type ModelChunk } from './model-chunk.js';
import { showUnfinished, ValueFollower, type PartialOptions } from './value-follower.js';

/** Options of {@link createJsonStream}; all options of `parse` too. */
export interface JsonStreamOptions extends ParseOptions {
  readonly partial?: PartialOptions;
  /** Take no text after the end of the first complete value. Default false. */
  readonly stopWhenComplete?: boolean;
  /** Check finished parts at once; needs a schema from `sluice/json-schema`. Default false. */
  readonly validatePartial?: boolean;
}

/** The value so far. It grows in place: use `copy()` to keep a state of it. */
export interface JsonSnapshot<T, Input = T> {
  readonly value: DeepPartial<Input> | undefined;
  /** Where something appeared or grew with the last push; `[]` alone when the root was replaced. */
  readonly changed: readonly Path[];
  /** The value is finished; only a later tag, channel or line could replace it. */
  readonly complete: boolean;
  /** The outcome, once it is known: at the end, or when a finished part broke the schema (`validatePartial`). */
  readonly result?: ParseResult<T>;
}

/** A stream of text turned into a growing value, which the schema has not seen yet: it has the type of its input. */
export interface JsonStream<T, Input = T> {
  /** Takes the next piece of text, cut anywhere, or the next event of a model's stream, and gives the value so far. */
  push(chunk: ModelChunk): JsonSnapshot<T, Input>;
  /** The end of the text: the same result as `parse` of the whole. */
  end(): ParseResult<T>;
  /** Calls `listener` with every finished value whose path fits, `items.*` for the elements of `items`. */
  on(pattern: string, listener: (value: unknown, path: Path) => void): void;
  /** A copy of the value so far that later pushes leave alone. */
  copy(): DeepPartial<Input> | undefined;
}

/**
 * Reads JSON while a model is still writing it. Thinking, tags, fences and prose are skipped; each character is read
 * once; `end` gives what `parse` gives for the whole text.
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
  const { partial, stopWhenComplete = false, validatePartial = false, ...parsing } = options;
  checkOptions(parsing);
  const settings = resolveSettings({ ...parsing, profile: 'default' }, schema !== undefined);
  const checkPart = validatePartial
    ? requireAlignment(schema, 'validatePartial', 'PARTIAL_UNSUPPORTED').checkPart
    : undefined;
  const shown: PartialOptions = { strings: true, ...partial };
  const transcript = new GrowingText();
  const decoder = new TextDecoder();
  const subscriptions: { readonly fits: PathPattern; readonly listener: (value: unknown, path: Path) => void }[] = [];
  let changes: Place[] = [];
  let objections: readonly SchemaIssue[] = [];
  let room = settings.limits.bytes;
  let result: ParseResult<T> | undefined;
  let ended = false;
  const follower = new ValueFollower(createCautiousPolicy(settings, settings.repairsInProse, false), {
    changed: (place) => void changes.push(place),
    finished(place, value) {
      for (const { fits, listener } of subscriptions) if (fits(place)) listener(value, buildPath(place));
      if (objections.length === 0) objections = checkPart?.(buildPath(place), value) ?? [];
    },
  });

  /** Beyond the byte limit the text is no longer read; `end` then reports the limit. */
  const take = (text: string): void => {
    if (result !== undefined || (stopWhenComplete && follower.complete)) return;
    room -= text.length;
    transcript.append(text);
    if (room < 0) return;
    follower.push(text);
    if (follower.reader !== undefined) showUnfinished(follower.reader, shown);
    if (objections.length > 0)
      result = failWith([{ ...describeMismatch('A finished part', objections), value: follower.value }], parsing.label);
  };

  return {
    push(chunk) {
      if (ended) throw new SluiceError('STREAM_ENDED', 'push was called after end(). Create a stream for each text.');
      const places = (changes = []);
      const text = readChunkText(chunk);
      take(typeof text === 'string' ? text : decoder.decode(text, { stream: true }));
      return new PlacedSnapshot<T, Input>(
        follower.value as DeepPartial<Input> | undefined,
        places,
        follower.complete,
        result,
      );
    },
    end() {
      ended = true;
      take(decoder.decode());
      return (result ??= parse(transcript.text, schema, parsing));
    },
    on(pattern, listener) {
      subscriptions.push({ fits: compilePattern(pattern), listener });
    },
    copy: () => structuredClone(follower.value as DeepPartial<Input> | undefined),
  };
}

/** A snapshot that builds its paths on request: most callers only use the value. A class, for speed. */
class PlacedSnapshot<T, Input> implements JsonSnapshot<T, Input> {
  readonly value: DeepPartial<Input> | undefined;
  readonly complete: boolean;
  declare readonly result?: ParseResult<T>;
  readonly #places: readonly Place[];

  constructor(
    value: DeepPartial<Input> | undefined,
    places: readonly Place[],
    complete: boolean,
    result: ParseResult<T> | undefined,
  ) {
    this.value = value;
    this.#places = places;
    this.complete = complete;
    if (result !== undefined) this.result = result;
  }

  get changed(): readonly Path[] {
    return this.#places.map(buildPath);
  }
}

/** Whether a place fits a pattern such as `items.*.name`; `*` matches one key or index. */
type PathPattern = (place: Place) => boolean;

/** Reads a pattern once. A place of another depth is rejected without building its path. */
function compilePattern(pattern: string): PathPattern {
  const steps = pattern === '' ? [] : pattern.split('.');
  return (place) => {
    if (place.container?.depth !== steps.length) return false;
    const path = buildPath(place);
    return steps.every((step, index) => step === '*' || step === String(path[index]));
  };
}

/** A value that may still be growing: every member may be missing, every list may be shorter. Branded scalars stay what they are. */
export type DeepPartial<T> = T extends string | number | boolean | bigint | null | undefined
  ? T
  : T extends readonly unknown[]
    ? number extends T['length']
      ? DeepPartial<T[number]>[]
      : { [Index in keyof T]?: DeepPartial<T[Index]> }
    : T extends object
      ? { [Key in keyof T]?: DeepPartial<T[Key]> }
      : T;
