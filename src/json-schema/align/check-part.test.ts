import { fromJsonSchema } from '../from-json-schema.js';
import type { JsonSchema } from '../json-schema.js';
import { describe, expect, test } from 'vitest';

function issuesOf(schema: JsonSchema, path: (string | number)[], value: unknown) {
  return fromJsonSchema(schema)['~sluice'].checkPart(path, value);
}

const report = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { line: { type: 'integer' } }, additionalProperties: false },
    },
    pair: { prefixItems: [{ type: 'string' }, { type: 'number' }] },
    numbered: { patternProperties: { '^n\\d+$': { type: 'number' } } },
    by_name: { type: 'object', additionalProperties: { type: 'number' } },
    shape: {
      anyOf: [
        { properties: { kind: { const: 'circle' }, r: { type: 'number' } } },
        {
          properties: { kind: { const: 'box' }, r: { type: 'null' }, w: { type: 'number' } },
          additionalProperties: false,
        },
      ],
    },
  },
  required: ['title', 'items'],
};

describe('a finished part of a value', () => {
  test.each<[path: (string | number)[], good: unknown, bad: unknown]>([
    [['title'], 'a', 1],
    [['items', 0, 'line'], 3, 'three'],
    [['items', 5], { line: 1 }, { line: 1, other: 2 }],
    [['pair', 1], 1, 'x'],
    [['by_name', 'x'], 1, 'x'],
    [['numbered', 'n12'], 1, 'x'],
    [['shape', 'r'], 1, 'x'],
    [[], { title: 'a', items: [] }, { title: 'a' }],
  ])('at %j: %j is fine, %j is not', (path, good, bad) => {
    expect(issuesOf(report, path, good)).toEqual([]);
    const issues = issuesOf(report, path, bad);
    expect(issues.length).toBeGreaterThan(0);
    expect(issues[0]?.path.slice(0, path.length)).toEqual(path);
  });

  test('where the schema has no room for it, is objected to', () => {
    expect(issuesOf(report, ['items', 0, 'column'], 1)).toEqual([
      { path: ['items', 0, 'column'], message: 'nothing is allowed at "column"' },
    ]);
    expect(issuesOf(report, ['title', 'x'], 1)).toHaveLength(1);
    expect(issuesOf(false, ['a'], 1)).toHaveLength(1);
  });

  test('is not objected to while any alternative would take it', () => {
    expect(issuesOf(report, ['shape', 'r'], null)).toEqual([]);
    expect(issuesOf(report, ['shape', 'kind'], 'box')).toEqual([]);
    expect(issuesOf(report, ['shape', 'kind'], 'line')).toHaveLength(1);
    expect(issuesOf(report, ['unknown', 'deep'], 1)).toEqual([]);
  });

  test('is not objected to where the schema has too many alternatives to follow', () => {
    const anyOf = Array.from({ length: 100 }, (_item, index) => ({ properties: { a: { const: index } } }));
    expect(issuesOf({ anyOf }, ['a'], 'x')).toEqual([]);
  });
});
