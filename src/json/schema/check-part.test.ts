import { fromJsonSchema } from './from-json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { describe, expect, test } from 'vitest';

function findIssues(schema: JsonSchema, path: (string | number)[], value: unknown) {
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
  ])('at %j can be %j, but not %j', (path, good, bad) => {
    expect(findIssues(report, path, good)).toEqual([]);
    const issues = findIssues(report, path, bad);
    expect(issues.length).toBeGreaterThan(0);
    expect(issues[0]?.path.slice(0, path.length)).toEqual(path);
  });

  test('is reported if the schema does not allow it', () => {
    expect(findIssues(report, ['items', 0, 'column'], 1)).toEqual([
      { path: ['items', 0, 'column'], message: 'no value is allowed at "column"' },
    ]);
    expect(findIssues(report, ['title', 'x'], 1)).toHaveLength(1);
    expect(findIssues(false, ['a'], 1)).toHaveLength(1);
  });

  test('is accepted while any alternative accepts it', () => {
    expect(findIssues(report, ['shape', 'r'], null)).toEqual([]);
    expect(findIssues(report, ['shape', 'kind'], 'box')).toEqual([]);
    expect(findIssues(report, ['shape', 'kind'], 'line')).toHaveLength(1);
    expect(findIssues(report, ['unknown', 'deep'], 1)).toEqual([]);
  });

  test('is accepted if the schema has too many alternatives to check', () => {
    const anyOf = Array.from({ length: 100 }, (_item, index) => ({ properties: { a: { const: index } } }));
    expect(findIssues({ anyOf }, ['a'], 'x')).toEqual([]);
  });
});
