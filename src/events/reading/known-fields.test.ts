import { expect, it } from 'vitest';
import { toKnownFields } from './record-fields.js';

it('finds the fields of each shape, in any of the tables', () => {
  const fields = toKnownFields({ error: 'message type' }, { ping: 'type' });
  expect([...(fields.get('error') ?? [])]).toEqual(['message', 'type']);
  expect([...(fields.get('ping') ?? [])]).toEqual(['type']);
});

it('does not accept a type that every object inherits', () => {
  const fields = toKnownFields({ error: 'type' });
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) expect(fields.has(name)).toBe(false);
});
