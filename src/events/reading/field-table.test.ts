import { expect, it } from 'vitest';
import { createFieldTable } from './record-fields.js';

it('adds the common fields to those of each type', () => {
  const table = createFieldTable(['type'], { error: ['message'], ping: [] });
  expect([...(table['error'] ?? [])]).toEqual(['type', 'message']);
  expect([...(table['ping'] ?? [])]).toEqual(['type']);
});

it('does not accept a type that every object inherits', () => {
  const table = createFieldTable(['type'], { error: [] });
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) expect(table[name]).toBeUndefined();
});
