import { truncate } from '../../../base/index.js';
import { FORMATS } from '../formats.js';
import { isJsonObject } from '../json-schema.js';
import type { SchemaObject } from '../json-schema.js';
import { toEqualityKey, isMultipleOf } from '../json-values.js';
import { fail, createEqualityKey } from './check.js';
import type { Check, CheckRun, KeywordContext } from './check.js';

/** Longer values are truncated in messages. */
const MAX_SHOWN = 200;

/** `type`, `const`, `enum`. */
export function createValueChecks(schema: SchemaObject): Check[] {
  const checks: Check[] = [];
  const types = readTypes(schema);
  if (types.length > 0) checks.push(createTypeCheck(types));
  if ('const' in schema) {
    const expected = schema['const'];
    const key = toEqualityKey(expected);
    const message = `expected ${truncate(key, MAX_SHOWN)}`;
    checks.push((value, run) => {
      if (value === expected) return true;
      const mayEqual = typeof value === 'object' && typeof expected === 'object';
      return (mayEqual && createEqualityKey(value, run) === key) || fail(run, message);
    });
  }
  const values = schema['enum'];
  if (Array.isArray(values)) {
    const expected = new Set(values.map(toEqualityKey));
    const scalars = new Set<unknown>(values.filter((value) => typeof value !== 'object' || value === null));
    const message = `expected one of ${truncate([...expected].join(', '), MAX_SHOWN)}`;
    checks.push((value, run) => {
      if (scalars.has(value)) return true;
      return (typeof value === 'object' && expected.has(createEqualityKey(value, run))) || fail(run, message);
    });
  }
  return checks;
}

/** Reads the types that a schema lists; empty without `type`. */
export function readTypes(schema: SchemaObject): readonly string[] {
  return [schema['type']].flat().filter((name) => typeof name === 'string');
}

function createTypeCheck(types: readonly string[]): Check {
  const expected = types.join(' or ');
  const [only] = types;
  const matches = (value: unknown): boolean =>
    types.length === 1 && only !== undefined ? hasType(value, only) : types.some((type) => hasType(value, type));
  return (value, run) => matches(value) || fail(run, `expected ${expected}, got ${getTypeName(value)}`);
}

/** Whether a JSON value has a type, by its name in `type`. */
function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return getTypeName(value) === type;
  }
}

/** Returns the type of a JSON value, for messages. */
export function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The value that a limit is compared with: undefined for values that it does not apply to. */
type Measure = (value: unknown, run: CheckRun) => number | undefined;

const isAtLeast = (size: number, limit: number): boolean => size >= limit;
const isAtMost = (size: number, limit: number): boolean => size <= limit;
const measureNumber: Measure = (value) => (Number.isFinite(value) ? Number(value) : undefined);
/** Lengths count code points, not UTF-16 units. */
const measureText: Measure = (value, run) => {
  if (typeof value !== 'string') return undefined;
  run.steps -= value.length >> 4;
  return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
};
const measureList: Measure = (value) => (Array.isArray(value) ? value.length : undefined);
const measureObject: Measure = (value, run) => {
  if (!isJsonObject(value)) return undefined;
  const { length } = Object.keys(value);
  run.steps -= length;
  return length;
};

/** The keywords that limit a number or a size: wording, measure, comparison, and what is counted, one and several. */
const LIMITS: readonly (readonly [
  keyword: string,
  wording: string,
  measure: Measure,
  isSatisfied: (size: number, limit: number) => boolean,
  one?: string,
  several?: string,
])[] = [
  ['minimum', 'must be at least', measureNumber, isAtLeast],
  ['maximum', 'must be at most', measureNumber, isAtMost],
  ['exclusiveMinimum', 'must be more than', measureNumber, (value, limit) => value > limit],
  ['exclusiveMaximum', 'must be less than', measureNumber, (value, limit) => value < limit],
  ['multipleOf', 'must be a multiple of', measureNumber, isMultipleOf],
  ['minLength', 'must have at least', measureText, isAtLeast, ' character', ' characters'],
  ['maxLength', 'must have at most', measureText, isAtMost, ' character', ' characters'],
  ['minItems', 'must have at least', measureList, isAtLeast, ' item', ' items'],
  ['maxItems', 'must have at most', measureList, isAtMost, ' item', ' items'],
  ['minProperties', 'must have at least', measureObject, isAtLeast, ' property', ' properties'],
  ['maxProperties', 'must have at most', measureObject, isAtMost, ' property', ' properties'],
];

/** The keywords that limit a number, a length or a count. */
export function createLimitChecks(schema: SchemaObject): Check[] {
  return LIMITS.flatMap(([keyword, wording, measure, isSatisfied, one = '', several = '']) => {
    const limit = schema[keyword];
    if (typeof limit !== 'number') return [];
    const message = `${wording} ${limit}${limit === 1 ? one : several}`;
    const check: Check = (value, run) => {
      const size = measure(value, run);
      return size === undefined || isSatisfied(size, limit) || fail(run, message);
    };
    return [check];
  });
}

/** `pattern`, `format`. */
export function createStringChecks({ schema, location, compilePattern }: KeywordContext): Check[] {
  const checks: Check[] = [];
  const { pattern, format } = schema;
  if (typeof pattern === 'string') {
    const compiled = compilePattern(pattern, `${location}/pattern`);
    const message = `must match the pattern ${pattern.slice(0, 200)}`;
    checks.push((value, run) => typeof value !== 'string' || compiled.test(value, run) || fail(run, message));
  }
  const test = typeof format === 'string' ? FORMATS.get(format) : undefined;
  if (test !== undefined)
    checks.push(
      (value, run) => typeof value !== 'string' || test(value) || fail(run, `must be a valid ${String(format)}`),
    );
  return checks;
}
