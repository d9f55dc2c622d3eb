import { describe, expect, test } from 'vitest';
import { parse } from '../../index.js';
import { fromJsonSchema } from '../from-json-schema.js';

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: { type: 'object', properties: { v: { type: 'integer' }, c: { $ref: '#/$defs/node' } }, required: ['v'] },
  },
};

function deepTree(depth: number, v: unknown = '1'): unknown {
  let value: unknown = { v: '1' };
  for (let level = 0; level < depth; level += 1) value = { v, c: value };
  return value;
}

describe('an adversarial value', () => {
  test('is aligned down to two hundred levels', () => {
    const { align } = fromJsonSchema(tree, { trusted: false })['~sluice'];
    expect(align(deepTree(199)).changes).toHaveLength(200);
    expect(align(deepTree(1000)).changes).toHaveLength(200);
  });

  test('stays unchanged if it is deeper than the call stack', () => {
    const value = deepTree(100_000, 1);
    const aligned = fromJsonSchema(tree, { trusted: false })['~sluice'].align(value);
    expect(aligned.value === value).toBe(true);
    expect(aligned.changes).toEqual([]);
  });

  test('does not take exponential time for nested unions', () => {
    const $defs: Record<string, object> = {};
    for (let level = 0; level < 12; level += 1) {
      const next = { $ref: `#/$defs/n${Math.min(level + 1, 11)}` };
      const anyOf = Array.from({ length: 6 }, (_item, index) => ({
        type: 'object',
        properties: { [`k${index}`]: { type: 'integer' }, next },
        required: [`k${index}`],
      }));
      $defs[`n${level}`] = { anyOf };
    }
    let value: object = { k0: '0' };
    for (let level = 0; level < 11; level += 1) value = { [`k${level % 6}`]: String(level), next: value };
    const { align } = fromJsonSchema({ $ref: '#/$defs/n0', $defs }, { trusted: false })['~sluice'];
    expect(align(value).changes).toHaveLength(12);
  });

  test('can have a hundred thousand unknown keys, or megabytes of text', () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_item, index) => [`K${index}`, index]));
    expect(fromJsonSchema(tree, { trusted: false })['~sluice'].align(keys).changes).toEqual([]);
    const text = '1,'.repeat(2_000_000);
    for (const type of ['number', 'boolean', 'null', 'array', 'object']) {
      expect(fromJsonSchema({ type }, { trusted: false })['~sluice'].align(text).changes).toEqual([]);
    }
    expect(fromJsonSchema({ enum: ['a', '1'] }, { trusted: false })['~sluice'].align(text).changes).toEqual([]);
  });

  test('can end with a megabyte that almost stands for further items', () => {
    const list = ['a', `[${'omitted '.repeat(130_000)}`];
    const schema = fromJsonSchema({ type: 'array', items: { type: 'string' } }, { trusted: false });
    expect(parse(JSON.stringify(list), schema, { align: true })).toMatchObject({ ok: true, value: list });
  });

  test('can have ten thousand amounts', () => {
    const amounts = Object.fromEntries(Array.from({ length: 10_000 }, (_item, index) => [`k${index}`, '$5']));
    const { align } = fromJsonSchema({ type: 'object', additionalProperties: { type: 'number' } }, { trusted: false })[
      '~sluice'
    ];
    expect(align(amounts).changes).toHaveLength(10_000);
    expect(align({ ...amounts, currency: 'EUR' }).changes).toEqual([]);
  });

  test('can come from input that ends inside an escape', () => {
    const schema = fromJsonSchema(
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { trusted: false },
    );
    const text = `{"a": 5, "b": "${String.raw`\"`.repeat(100_000)}\\`;
    expect(parse(text, schema, { align: true, allowPartial: true })).toMatchObject({ ok: true, value: { a: '5' } });
  });

  test("cannot change an object's prototype", () => {
    const schema = fromJsonSchema(
      { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      { trusted: false },
    );
    const { value } = schema['~sluice'].align(JSON.parse('{"__proto__": {"polluted": true}, "a": "1"}'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"a":1}');
  });
});

describe('aligning to a malicious schema', () => {
  test('takes bounded time if every reference doubles the work', () => {
    const $defs: Record<string, object> = {
      d0: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    };
    for (let level = 1; level <= 40; level += 1) {
      const $ref = `#/$defs/d${level - 1}`;
      $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }], anyOf: [{ $ref }, { $ref, title: 'again' }] };
    }
    const { align, checkPart } = fromJsonSchema({ $ref: '#/$defs/d40', $defs }, { trusted: false })['~sluice'];
    expect(align({ a: '1' })).toEqual({ value: { a: '1' }, changes: [] });
    expect(checkPart(['a'], '1')).toEqual([]);
  }, 30_000);

  test('is fast if a member has a long name', () => {
    const name = `ab${' '.repeat(200_000)}b`;
    const { align, mayGrow } = fromJsonSchema({ enum: [name, 'c'] }, { trusted: false })['~sluice'];
    expect(align('C').value).toBe('c');
    expect(mayGrow?.('a', '"a')).toBe(true);
  });

  test('does not exhaust the call stack on a long chain of references', () => {
    const $defs: Record<string, object> = { d0: { type: 'integer' } };
    for (let level = 1; level <= 5000; level += 1) $defs[`d${level}`] = { $ref: `#/$defs/d${level - 1}`, title: 'x' };
    const { align } = fromJsonSchema({ $ref: '#/$defs/d5000', $defs }, { trusted: false })['~sluice'];
    expect(align(1)).toEqual({ value: 1, changes: [] });
    expect(align('1').changes.length).toBeLessThan(2);
  });
});
