import { expect, it } from 'vitest';
import { describeDatabase } from './command-context.js';

it.each([
  ['sqlite:data/sluice.db', 'sqlite:data/sluice.db'],
  ['postgres://ada:secret@db.example.org:5433/sluice?password=secret', 'postgres://db.example.org:5433/sluice'],
  ['postgresql://ada:se%40cret@db/x', 'postgres://db/x'],
  ['postgres://ada:secret@[bad/x', 'postgres://…'],
])('shows the address of %s without credentials', (address, shown) => {
  expect(describeDatabase(address)).toBe(shown);
});
