import { describe, expect, test } from 'vitest';
import { FORMATS } from './formats.js';

const cases: Readonly<Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>> = {
  date: {
    good: ['2024-02-29', '2000-02-29', '2023-12-31', '0001-01-01'],
    bad: [
      '2023-02-29',
      '1900-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-04-31',
      '2024-1-1',
      '01/02/2024',
      '',
      '2024-01-00',
    ],
  },
  time: {
    good: ['10:30:00Z', '10:30:00.123+02:00', '23:59:60Z', '01:29:60+01:30', '10:30:00z'],
    bad: ['10:30', '10:30:00', '24:00:00Z', '10:60:00Z', '22:59:60Z', '10:30:00+24:00', '10:30:61Z'],
  },
  'date-time': {
    good: ['2024-01-15T10:30:00Z', '2024-01-15t10:30:00.5-05:00', '2024-01-15 10:30:00Z'],
    bad: ['2024-01-15T10:30:00', '2024-01-15', '2024-02-30T10:30:00Z', '15 Jan 2024', '2024-01-15T10:30Z'],
  },
  duration: { good: ['P1D', 'PT1H30M', 'P3W', 'P1Y2M3DT4H5M6S', 'PT1.5S'], bad: ['P', 'PT', '1D', 'P1DT', 'P1W2D'] },
  email: {
    good: ['a@b.c', 'first.last+tag@example.org', 'a@localhost'],
    bad: ['a', '@b.c', 'a@', 'a b@c.d', 'a..b@c.d', '.a@c.d', 'a@-b.c', 'a@b@c.d', `${'a'.repeat(65)}@b.c`],
  },
  hostname: {
    good: ['example.org', 'a', 'a-b.c', 'x1.y2'],
    bad: ['', '-a', 'a-', 'a..b', 'a_b', `${'a'.repeat(64)}.b`, 'a b', `${'a.'.repeat(130)}a`],
  },
  ipv4: { good: ['0.0.0.0', '255.255.255.255'], bad: ['256.0.0.1', '1.2.3', '01.2.3.4', '1.2.3.4.5', ''] },
  ipv6: {
    good: ['::', '::1', '1:2:3:4:5:6:7:8', '1::8', '::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4', 'FE80::A'],
    bad: ['1:2:3:4:5:6:7', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7:8:9', '::1.2.3', '1:2:3:4:5:6:7::8', ''],
  },
  uri: {
    good: ['https://example.org/a?b=c#d', 'mailto:a@b.c', 'urn:x:y', 'https://例え.jp/パス', 'file:///a%20b'],
    bad: ['example.org', '/a', 'https://a b', 'https://a/%zz', 'http:', '<a:b>', ''],
  },
  'uri-reference': { good: ['/a', '../b', '#c', 'https://a.b', ''], bad: ['a b', '\\a', '%g'] },
  uuid: {
    good: ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-426614174000'],
    bad: ['123e4567e89b12d3a456426614174000', '123e4567-e89b-12d3-a456-42661417400g', ''],
  },
};

test('every supported format has cases', () => {
  expect(Object.keys(cases).toSorted()).toEqual([...FORMATS.keys()].toSorted());
});

describe.each(Object.entries(cases))('format %s', (name, { good, bad }) => {
  test.each(good)('accepts %j', (text) => expect(FORMATS.get(name)?.(text)).toBe(true));
  test.each(bad)('refuses %j', (text) => expect(FORMATS.get(name)?.(text)).toBe(false));
  test('rejects megabytes of text', () => expect(FORMATS.get(name)?.('1:'.repeat(1_000_000))).toBe(false));
});
