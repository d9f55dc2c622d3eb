import { alignmentOf, type AlignableSchema } from '../alignable-schema.js';
import { parse } from '../parse.js';
import { failureOf } from '../failure.js';
import type { ParseOptions } from '../parse-options.js';
import type { ParseResult } from '../parse-result.js';
import { cautiousPolicy } from '../reader/reader-policy.js';
import { GrowingText } from '../reader/growing-text.js';
import { pathOf, type Place, type ValueListener } from '../reader/value-builder.js';
import type { Path } from '../repair.js';
import { resolveSettings } from '../search-settings.js';
import type { SchemaIssue, StandardSchema } from '../standard-schema.js';
import type { DeepPartial } from './deep-partial.js';
import { compilePattern, type PathPattern } from './path-pattern.js';
import { ValueFollower } from './value-follower.js';

/** Which unfinished things appear in a snapshot. */
export interface PartialOptions {
  /** A string as far as it came. Default true. */
  readonly strings?: boolean;
  /** A number as far as it came, where that is a number: `12` may become `125`. Default false. */
  readonly numbers?: boolean;
  /** A literal before it is complete. Default false. */
  readonly literals?: boolean;
  /** A key before its value has begun, with `null`. Default false. */
  readonly keys?: boolean;
}

/** Options of {@link createJsonStream}; all options of `parse` too. */
export interface JsonStreamOptions extends ParseOptions {
  readonly partial?: PartialOptions;
  /** Take no text behind the end of the first complete value. Default false. */
  readonly stopWhenComplete?: boolean;
  /** Check finished parts at once; needs a schema from `sluice/json-schema`. Default false. */
  readonly validatePartial?: boolean;
}

/** The value so far. It grows in place: use `copy()` to keep a state of it. */
export interface JsonSnapshot<T> {
  readonly value: DeepPartial<T> | undefined;
  /** Where something appeared or grew with the last push; `[]` alone when the root began anew. */
  readonly changed: readonly Path[];
  /** The value is finished; only a later tag, channel or line could replace it. */
  readonly complete: boolean;
  /** The outcome, once it is known: at the end, or when a finished part broke the schema (`validatePartial`). */
  readonly result?: ParseResult<T>;
}

/** A stream of text turned into a growing value. */
export interface JsonStream<T> {
  /** Takes the next piece of text, cut anywhere, and gives the value so far. */
  push(chunk: string | Uint8Array): JsonSnapshot<T>;
  /** The end of the text: the same result as `parse` of the whole. */
  end(): ParseResult<T>;
  /** Calls `listener` with every finished value whose path fits, `items.*` for the elements of `items`. */
  on(pattern: string, listener: (value: unknown, path: Path) => void): void;
  /** A copy of the value so far that later pushes leave alone. */
  copy(): DeepPartial<T> | undefined;
}

/**
 * Reads JSON while a model is still writing it. Thinking, tags, fences and prose are passed over; each character is read
 * once; `end` gives what `parse` gives for the whole text.
 *
 * @example
 * const stream = createJsonStream(z.object({ items: z.array(z.string()) }))
 * stream.on('items.*', (item) => console.log('finished', item))
 * for await (const chunk of answer) render(stream.push(chunk).value)
 * const result = stream.end()
 */
export function createJsonStream(schema?: undefined, options?: JsonStreamOptions): JsonStream<unknown>;
export function createJsonStream<T>(schema: StandardSchema<unknown, T>, options?: JsonStreamOptions): JsonStream<T>;
export function createJsonStream<T>(
  schema: StandardSchema<unknown, T> | undefined,
  options?: JsonStreamOptions,
): JsonStream<T>;
export function createJsonStream<T>(
  schema?: StandardSchema<unknown, T>,
  options: JsonStreamOptions = {},
): JsonStream<T> {
  return new FollowingStream(schema, options);
}

class FollowingStream<T> implements JsonStream<T>, ValueListener {
  readonly #schema: StandardSchema<unknown, T> | undefined;
  readonly #options: JsonStreamOptions;
  readonly #checkPart: AlignableSchema['~sluice']['checkPart'] | undefined;
  readonly #follower: ValueFollower;
  readonly #partial: Required<PartialOptions>;
  readonly #transcript = new GrowingText();
  readonly #decoder = new TextDecoder();
  readonly #subscriptions: { readonly fits: PathPattern; readonly listener: (value: unknown, path: Path) => void }[] =
    [];
  #changes: Place[] = [];
  #objections: readonly SchemaIssue[] = [];
  #room: number;
  #result: ParseResult<T> | undefined;

  constructor(schema: StandardSchema<unknown, T> | undefined, options: JsonStreamOptions) {
    const settings = resolveSettings({ ...options, profile: 'default' }, schema !== undefined);
    this.#schema = schema;
    this.#options = options;
    this.#checkPart =
      options.validatePartial === true
        ? alignmentOf(schema, 'validatePartial', 'PARTIAL_UNSUPPORTED').checkPart
        : undefined;
    this.#follower = new ValueFollower(cautiousPolicy(settings.repairsInProse, false, settings), this);
    this.#partial = { strings: true, numbers: false, literals: false, keys: false, ...options.partial };
    this.#room = settings.limits.bytes;
  }

  push(chunk: string | Uint8Array): JsonSnapshot<T> {
    this.#changes = [];
    this.#take(typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true }));
    return new PlacedSnapshot(this.#value, this.#changes, this.#follower.complete, this.#result);
  }

  end(): ParseResult<T> {
    this.#take(this.#decoder.decode());
    this.#result ??= parse(this.#transcript.text, this.#schema, this.#options);
    return this.#result;
  }

  on(pattern: string, listener: (value: unknown, path: Path) => void): void {
    this.#subscriptions.push({ fits: compilePattern(pattern), listener });
  }

  copy(): DeepPartial<T> | undefined {
    return structuredClone(this.#value);
  }

  changed(place: Place): void {
    this.#changes.push(place);
  }

  finished(place: Place, value: unknown): void {
    for (const { fits, listener } of this.#subscriptions) if (fits(place)) listener(value, pathOf(place));
    if (this.#checkPart !== undefined && this.#objections.length === 0)
      this.#objections = this.#checkPart(pathOf(place), value);
  }

  get #value(): DeepPartial<T> | undefined {
    return this.#follower.value as DeepPartial<T> | undefined;
  }

  /** Beyond the byte limit the text is kept for `end` to refuse, but no longer followed. */
  #take(text: string): void {
    const { stopWhenComplete, label } = this.#options;
    if (this.#result !== undefined || (stopWhenComplete === true && this.#follower.complete)) return;
    this.#room -= text.length;
    this.#transcript.append(text);
    if (this.#room < 0) return;
    this.#follower.push(text);
    this.#follower.reader?.showUnfinished(this.#partial);
    const [objection] = this.#objections;
    if (objection === undefined) return;
    const message = `a finished part does not fit the schema: ${objection.path.join('.')}: ${objection.message}`;
    this.#result = failureOf(
      [{ code: 'SCHEMA_MISMATCH', message, issues: this.#objections, value: this.#value }],
      label,
    );
  }
}

/** A snapshot whose paths are written out when they are asked for: most readers only look at the value. */
class PlacedSnapshot<T> implements JsonSnapshot<T> {
  readonly value: DeepPartial<T> | undefined;
  readonly complete: boolean;
  declare readonly result?: ParseResult<T>;
  readonly #places: readonly Place[];
  #paths: readonly Path[] | undefined;

  constructor(
    value: DeepPartial<T> | undefined,
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
    this.#paths ??= this.#places.map(pathOf);
    return this.#paths;
  }
}
