import { equalityKey, jsonEquals } from '../json-equality.js';
import type { SchemaObject } from '../json-schema.js';
import { fail } from './check.js';
import type { Check } from './check.js';

/** `type`, `const`, `enum`. */
export function valueChecks(schema: SchemaObject): Check[] {
  const checks: Check[] = [];
  const types = typesOf(schema);
  if (types.length > 0) checks.push(typeCheck(types));
  if ('const' in schema) {
    const expected = schema['const'];
    const message = `expected ${shorten(equalityKey(expected))}`;
    checks.push((value, run) => jsonEquals(value, expected) || fail(run, message));
  }
  const values = schema['enum'];
  if (Array.isArray(values)) {
    const expected = new Set(values.map(equalityKey));
    const scalars = new Set<unknown>(values.filter((value) => typeof value !== 'object' || value === null));
    const message = `expected one of ${shorten([...expected].join(', '))}`;
    checks.push((value, run) => {
      if (scalars.has(value)) return true;
      return (typeof value === 'object' && expected.has(equalityKey(value))) || fail(run, message);
    });
  }
  return checks;
}

/** The types a schema lists; none if it does not say. */
export function typesOf(schema: SchemaObject): readonly string[] {
  const type: unknown = schema['type'];
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((name) => typeof name === 'string');
}

function typeCheck(types: readonly string[]): Check {
  const wanted = types.join(' or ');
  const [only] = types;
  if (types.length === 1 && only !== undefined) {
    return (value, run) => hasType(value, only) || fail(run, `expected ${wanted}, got ${typeNameOf(value)}`);
  }
  return (value, run) =>
    types.some((type) => hasType(value, type)) || fail(run, `expected ${wanted}, got ${typeNameOf(value)}`);
}

/** Tells whether a JSON value is of a type, by the names `type` uses. */
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

/** The type of a JSON value for a message. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
