import { expect, test } from 'vitest';
import { readRunFilter } from './run-filter.js';

const read = (text: string) => readRunFilter(new URLSearchParams(text));

test('an address without filters asks for everything', () => {
  expect(read('start=')).toEqual({});
});

test('every filter of the address is asked for', () => {
  expect(read('state=ended&outcome=failed&engine=codex&repair_level=none&search=+shop+')).toEqual({
    state: 'ended',
    outcome: 'failed',
    engine: 'codex',
    repair_level: 'none',
    search: 'shop',
  });
});

test('words that nothing can have are not asked for, and a long search is cut', () => {
  expect(read(`state=lost&outcome=&search=${'x'.repeat(500)}`)).toEqual({ search: 'x'.repeat(200) });
});
