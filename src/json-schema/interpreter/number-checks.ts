import type { SchemaObject } from '../json-schema.js';
import { isMultipleOf } from '../multiple-of.js';
import { fail } from './check.js';
import type { Check } from './check.js';

/** `minimum`, `maximum`, their exclusive forms, `multipleOf`. */
export function numberChecks(schema: SchemaObject): Check[] {
  return [
    numberCheck(schema, 'minimum', 'must be at least', (value, limit) => value >= limit),
    numberCheck(schema, 'maximum', 'must be at most', (value, limit) => value <= limit),
    numberCheck(schema, 'exclusiveMinimum', 'must be more than', (value, limit) => value > limit),
    numberCheck(schema, 'exclusiveMaximum', 'must be less than', (value, limit) => value < limit),
    numberCheck(schema, 'multipleOf', 'must be a multiple of', isMultipleOf),
  ].flat();
}

function numberCheck(
  schema: SchemaObject,
  keyword: string,
  wording: string,
  holds: (value: number, limit: number) => boolean,
): Check[] {
  const limit = schema[keyword];
  if (typeof limit !== 'number') return [];
  return [
    (value, run) =>
      typeof value !== 'number' || !Number.isFinite(value) || holds(value, limit) || fail(run, `${wording} ${limit}`),
  ];
}
