import { expect, test } from 'vitest';
import { formatBound, readBound } from '../../ui/list-page.js';
import { listChips, readRunFilter } from './runs-page.js';

const read = (text: string) => readRunFilter(new URLSearchParams(text));

test('an address without filters requests everything', () => {
  expect(read('start=')).toEqual({});
});

test('every filter in the address is applied', () => {
  expect(read('state=ended&outcome=failed&engine=codex&repair_level=none&search=+shop+')).toEqual({
    state: 'ended',
    outcome: 'failed',
    engine: 'codex',
    repair_level: 'none',
    search: 'shop',
  });
});

test('invalid values are ignored, and a long search is truncated', () => {
  expect(read(`state=lost&outcome=&search=${'x'.repeat(500)}`)).toEqual({ search: 'x'.repeat(200) });
});

test.each([
  ['2026-11-15', 0, new Date(2026, 10, 15)],
  ['2026-11-15', 1, new Date(2026, 10, 16)],
  ['yesterday', 0, new Date(2026, 10, 14)],
  ['yesterday', 1, new Date(2026, 10, 15)],
  ['today', 0, new Date(2026, 10, 15)],
  ['2026-11-15T06:30:00.000Z', 1, new Date('2026-11-15T06:30:00.000Z')],
] as const)('the bound %s plus %d days is read as a time', (word, daysLater, expected) => {
  const now = new Date(2026, 10, 15, 12).getTime();
  expect(readBound(word, now, daysLater)).toBe(expected.toISOString());
});

test('other strings are not read as a bound, and a date field shows the day of a bound', () => {
  const now = new Date(2026, 10, 1, 12).getTime();
  for (const word of ['', 'x', '2026-11', '2026-99-99T99:99:99Z', "'); DROP"])
    expect(readBound(word, now, 0)).toBeNull();
  expect(formatBound('yesterday', now)).toBe('2026-10-31');
  expect(formatBound('nonsense', now)).toBe('');
});

test('chart links filter by end time, model and version, which are shown as chips', () => {
  const filter = read(
    'ended_since=2026-11-15T06:00:00.000Z&ended_until=2026-11-15T09:00:00.000Z&model=opus&engine_version=1.2',
  );
  expect(filter).toEqual({
    ended_since: '2026-11-15T06:00:00.000Z',
    ended_until: '2026-11-15T09:00:00.000Z',
    model: 'opus',
    engine_version: '1.2',
  });
  expect(listChips(filter)).toEqual([
    {
      text: expect.stringMatching(/^Ended from 2026-11-1\d \d\d:00 to 2026-11-1\d \d\d:00$/),
      names: ['ended_since', 'ended_until'],
    },
    { text: 'Model opus', names: ['model'] },
    { text: 'Version 1.2', names: ['engine_version'] },
  ]);
  expect(listChips({})).toEqual([]);
  const days = listChips({ since: '2026-11-15T00:00:00.000Z', until: '2026-11-16T00:00:00.000Z' });
  expect(days).toEqual([{ text: expect.stringMatching(/^Created from .* to .* \(UTC/), names: ['since', 'until'] }]);
});
