import { resolveLimits, exceedsBytes } from './limits.js';
import { ParseError } from './parse-error.js';
import type { Limits } from './parse-options.js';
import { parse } from './parse.js';
import { SourceNumber } from './reader/number.js';
import { readValue, type Reading } from './reader/read-value.js';
import { repairSets } from './reader/reader-policy.js';

/** Options of {@link repairJson}. */
export interface RepairJsonOptions {
  readonly limits?: Limits;
}

/** Texts that begin like a value are read as one first; all others may be prose around one. */
const BEGINS_LIKE_JSON = /^[\s\uFEFF]*(?:["'[{“”‘’´\\/#\d+.-]|`(?!``)|(?:true|false|null|True|False|None|undefined)\b)/;

/**
 * Turns broken JSON into JSON text, in the manner of the usual repair functions: truncation is closed, a missing value
 * is `null`, a bare word a string, several values become an array. Valid JSON is returned as it is. Throws a
 * {@link ParseError} when there is nothing to be saved. Prefer `parse`, which reports what it did and checks a schema.
 *
 * @example
 * repairJson("{name: 'Ada', tags: ['x',") // '{"name":"Ada","tags":["x"]}'
 */
export function repairJson(text: string, options: RepairJsonOptions = {}): string {
  const limits = resolveLimits(options.limits);
  if (exceedsBytes(text, limits.bytes)) throw hopeless('LIMIT_EXCEEDED', `the text is longer than ${limits.bytes} bytes`);
  if (text.trim() === '') throw hopeless('EMPTY_INPUT', 'the text is empty');
  if (isValidJson(text, limits)) return text;
  const beginsLikeJson = BEGINS_LIKE_JSON.test(text);
  const cutOut = beginsLikeJson ? undefined : cutOutValue(text, limits);
  if (cutOut !== undefined) return cutOut;
  const reading = readGenerously(text, limits);
  if (reading.ok) return write(reading.value);
  const lastResort = beginsLikeJson ? cutOutValue(text, limits) : undefined;
  if (lastResort !== undefined) return lastResort;
  throw hopeless(reading.failure.code, `${reading.failure.message} (offset ${reading.failure.offset})`);
}

function readGenerously(text: string, limits: Required<Limits>): Reading {
  return readValue(text, 0, {
    repairs: repairSets.everything,
    missingValue: 'null',
    bareText: 'any',
    rootMustEnd: true,
    numbers: 'source',
    depth: limits.depth,
  });
}

function isValidJson(text: string, limits: Required<Limits>): boolean {
  const result = parse(text, undefined, { limits: { ...limits, candidates: 1 }, profile: 'generic' });
  return result.ok && result.repairLevel === 'none';
}

/** The value inside running text. Glued to a word or empty, it is more likely a part of the text than the answer. */
function cutOutValue(text: string, limits: Required<Limits>): string | undefined {
  const result = parse(text, undefined, { allowPartial: true, limits });
  if (!result.ok || typeof result.value !== 'object' || result.value === null) return undefined;
  if (Object.keys(result.value).length === 0) return undefined;
  const { finder, start, end } = result.candidate;
  if (finder === 'prose' && (/\w/.test(text[start - 1] ?? '') || /[\w{[]/.test(text[end] ?? ''))) return undefined;
  const span = readGenerously(text.slice(start, end), limits);
  return finder === 'envelope' || !span.ok ? write(result.value) : write(span.value);
}

/** `JSON.stringify`, but numbers a double cannot hold are written as they were. */
function write(value: unknown): string {
  if (value instanceof SourceNumber) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`)
    .join(',')}}`;
}

function hopeless(code: ParseError['code'], message: string): ParseError {
  return new ParseError(code, message, { attempts: [] });
}
