import { AnyTextReader } from './reader/any-text-reader.js';
import { isContainer } from './limits.js';
import { checkOptions, type Limits, type TextInput } from './options.js';
import { parse } from './parse.js';
import { readStrict, resolveSettings } from './read-span.js';
import { describeUnreadable, failWith, decodeInput } from './result.js';
import { createReaderPolicy, ALL_REPAIRS } from './reader/reader-policy.js';
import { type ReadResult, readValue } from './reader/reader.js';

/** Options of {@link repairJson}. */
export interface RepairJsonOptions {
  readonly limits?: Limits;
}

/** Input that starts like a value is first read as one; anything else might be prose around a value. */
const STARTS_LIKE_JSON = /^[\s\uFEFF]*(?:["'[{“”‘’´\\/#\d+.-]|`(?!``))/;

/**
 * Turns broken JSON into valid JSON text, as other repair libraries do: truncated containers are closed, a missing
 * value becomes `null`, a bare word a string, multiple values an array. Valid JSON is returned unchanged. Throws a
 * `ParseError` if nothing can be repaired. Prefer `parse`, which reports its repairs and validates against a schema.
 *
 * @example
 * repairJson("{name: 'Ada', tags: ['x',") // '{"name":"Ada","tags":["x"]}'
 */
export function repairJson(raw: TextInput, options: RepairJsonOptions = {}): string {
  checkOptions(options, { limits: 'object' });
  const settings = resolveSettings(options, false);
  const { limits } = settings;
  const input = decodeInput(raw, limits);
  if (typeof input !== 'string') throw failWith([input]).error;
  const text: string = input;
  if (readStrict(text, 0, settings)?.ok) return text;
  const policy = { ...createReaderPolicy({ numbers: keepSource, limits }, ALL_REPAIRS, true), acceptsAnyText: true };
  const readAnyText = (span: string): ReadResult => readValue(span, 0, policy, AnyTextReader);
  const startsLikeJson = STARTS_LIKE_JSON.test(text);
  const reading = startsLikeJson ? readAnyText(text) : undefined;
  const isFinal = reading !== undefined && ('value' in reading || reading.failure.code === 'TRUNCATED');
  const best = isFinal ? reading : (extractValue() ?? reading ?? readAnyText(text));
  if (!('value' in best)) throw failWith([describeUnreadable(best.failure)]).error;
  try {
    return serialize(best.value);
  } catch {
    throw failWith([{ code: 'LIMIT_EXCEEDED', message: 'The value is nested too deeply to serialize.' }]).error;
  }

  /** Finds the value inside running text. A value that is empty or touches a word is more likely part of the prose. */
  function extractValue(): { readonly value: unknown } | undefined {
    const result = parse(text, undefined, { allowPartial: true, limits });
    // Any choice would lose a value.
    if (result.status === 'failed' && result.error.code === 'AMBIGUOUS') throw result.error;
    if (!result.ok || !isContainer(result.value) || Object.keys(result.value).length === 0) return undefined;
    const { finder, start, end } = result.candidate;
    if (finder === 'prose' && (/\w/.test(text.charAt(start - 1)) || /[\w{[]/.test(text.charAt(end)))) return undefined;
    // Another value after it would be lost.
    if (startsLikeJson && /^\s*(?:["'[{]|-?\d)/.test(text.slice(end))) return undefined;
    const span = readAnyText(text.slice(start, end));
    return finder === 'envelope' || !('value' in span) ? result : span;
  }
}

/**
 * Serializes numbers that a double cannot represent with their source digits; `JSON.stringify` throws at the first of
 * them.
 */
function serialize(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return serializeSource(value);
  }
}

function serializeSource(value: unknown): string {
  if (value instanceof SourceNumber) return value.source;
  if (!isContainer(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(serializeSource).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${serializeSource(member)}`)
    .join(',')}}`;
}

function keepSource(token: string): SourceNumber {
  return new SourceNumber(token);
}

/** A number with its source text, which `JSON.stringify` cannot serialize. */
class SourceNumber {
  declare readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toJSON(): never {
    throw new Error();
  }
}
