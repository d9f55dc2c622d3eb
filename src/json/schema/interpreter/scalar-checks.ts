import { truncate } from '../../../base/index.js';
import { FORMATS } from '../formats.js';
import type { SchemaObject } from '../json-schema.js';
import { toEqualityKey, isMultipleOf } from '../json-values.js';
import { fail, createEqualityKey } from './check.js';
import type { Check, CheckRun, KeywordContext } from './check.js';

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
  const type: unknown = schema['type'];
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((name) => typeof name === 'string');
}

function createTypeCheck(types: readonly string[]): Check {
  const expected = types.join(' or ');
  const [only] = types;
  if (types.length === 1 && only !== undefined) {
    return (value, run) => hasType(value, only) || fail(run, `expected ${expected}, got ${getTypeName(value)}`);
  }
  return (value, run) =>
    types.some((type) => hasType(value, type)) || fail(run, `expected ${expected}, got ${getTypeName(value)}`);
}

/** Whether a JSON value has a type, by its name in `type`. */
function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Returns the type of a JSON value, for messages. */
export function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Longer values are truncated in messages. */
const MAX_SHOWN = 200;

/** `minimum`, `maximum`, their exclusive forms, `multipleOf`. */
export function createNumberChecks(schema: SchemaObject): Check[] {
  return [
    createNumberCheck(schema, 'minimum', 'must be at least', (value, limit) => value >= limit),
    createNumberCheck(schema, 'maximum', 'must be at most', (value, limit) => value <= limit),
    createNumberCheck(schema, 'exclusiveMinimum', 'must be more than', (value, limit) => value > limit),
    createNumberCheck(schema, 'exclusiveMaximum', 'must be less than', (value, limit) => value < limit),
    createNumberCheck(schema, 'multipleOf', 'must be a multiple of', isMultipleOf),
  ].flat();
}

function createNumberCheck(
  schema: SchemaObject,
  keyword: string,
  wording: string,
  isSatisfied: (value: number, limit: number) => boolean,
): Check[] {
  const limit = schema[keyword];
  if (typeof limit !== 'number') return [];
  return [
    (value, run) =>
      typeof value !== 'number' ||
      !Number.isFinite(value) ||
      isSatisfied(value, limit) ||
      fail(run, `${wording} ${limit}`),
  ];
}

/** `minLength`, `maxLength`, `pattern`, `format`. Lengths count code points, not UTF-16 units. */
export function createStringChecks({ schema, location, compilePattern }: KeywordContext): Check[] {
  const checks: Check[] = [];
  const minLength = schema['minLength'];
  const maxLength = schema['maxLength'];
  const pattern = schema['pattern'];
  const format = schema['format'];
  if (typeof minLength === 'number') {
    checks.push(
      (value, run) =>
        typeof value !== 'string' ||
        (value.length >= minLength && countCharacters(value, run) >= minLength) ||
        fail(run, `must have at least ${minLength} character${minLength === 1 ? '' : 's'}`),
    );
  }
  if (typeof maxLength === 'number') {
    checks.push(
      (value, run) =>
        typeof value !== 'string' ||
        value.length <= maxLength ||
        countCharacters(value, run) <= maxLength ||
        fail(run, `must have at most ${maxLength} character${maxLength === 1 ? '' : 's'}`),
    );
  }
  if (typeof pattern === 'string') {
    const compiled = compilePattern(pattern, `${location}/pattern`);
    const message = `must match the pattern ${pattern.slice(0, 200)}`;
    checks.push((value, run) => typeof value !== 'string' || compiled.test(value, run) || fail(run, message));
  }
  const test = typeof format === 'string' ? FORMATS.get(format) : undefined;
  if (test !== undefined) {
    const message = `must be a valid ${String(format)}`;
    checks.push((value, run) => typeof value !== 'string' || test(value) || fail(run, message));
  }
  return checks;
}

function countCharacters(text: string, run: CheckRun): number {
  run.steps -= text.length >> 4;
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const isHigh = (text.charCodeAt(index) & 0xfc00) === 0xd800;
    if (isHigh && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}
