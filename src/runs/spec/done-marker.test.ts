import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { stripDoneMarker } from './render-contract.js';

describe('stripDoneMarker', () => {
  it.each(['__SKILL_DONE__', '__skill_done__'])('strips %s from the top', (marker) => {
    expect(stripDoneMarker({ answer: 7, [marker]: true }, { type: 'object' })).toEqual({ answer: 7 });
  });

  it('strips it with any value, because it is not part of the result', () => {
    expect(stripDoneMarker({ __SKILL_DONE__: 'yes', answer: 7 })).toEqual({ answer: 7 });
  });

  it('leaves it in nested values', () => {
    const value = { answer: { __SKILL_DONE__: true } };
    expect(stripDoneMarker(value)).toBe(value);
  });

  it.each([
    ['among its properties', { properties: { __SKILL_DONE__: { type: 'boolean' } } }],
    ['as required', { required: ['__SKILL_DONE__'] }],
    ['in a subschema', { allOf: [{ anyOf: [{ properties: { __SKILL_DONE__: true } }] }] }],
    ['behind a reference', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { required: ['__SKILL_DONE__'] } } }],
    ['in a library’s schema', z.object({ __SKILL_DONE__: z.literal(true) })],
  ])('leaves it if the schema declares it %s', (_, schema) => {
    const value = { __SKILL_DONE__: true };
    expect(stripDoneMarker(value, schema)).toBe(value);
  });

  it.each([
    ['the marker only in a nested property', { properties: { inner: { properties: { __SKILL_DONE__: {} } } } }],
    ['a circular reference', { $ref: '#' }],
    ['a dangling reference', { $ref: '#/$defs/none' }],
    ['a reference to an inherited property', { $ref: '#/constructor/prototype' }],
  ])('strips it if the schema has %s', (_, schema) => {
    expect(stripDoneMarker({ __SKILL_DONE__: true }, schema)).toEqual({});
  });

  it('handles a schema whose parts refer to each other many times', () => {
    const schema = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) };
    expect(stripDoneMarker({ __SKILL_DONE__: true }, schema)).toEqual({});
  });

  it('changes nothing else in any value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        const value: unknown = JSON.parse(JSON.stringify(members));
        expect(stripDoneMarker(value)).toBe(value);
        const marked: unknown = JSON.parse(
          JSON.stringify(members).replace(
            '{',
            Object.keys(members).length === 0 ? '{"__SKILL_DONE__":true' : '{"__SKILL_DONE__":true,',
          ),
        );
        expect(stripDoneMarker(marked)).toEqual(value);
      }),
    );
  });

  it('keeps a member called __proto__ unchanged', () => {
    const value: unknown = JSON.parse('{"__proto__": {"polluted": true}, "__SKILL_DONE__": true}');
    expect(JSON.stringify(stripDoneMarker(value))).toBe('{"__proto__":{"polluted":true}}');
  });

  it.each([[[1]], ['text'], [null], [7]])('returns %j unchanged', (value) => {
    expect(stripDoneMarker(value)).toBe(value);
  });
});
