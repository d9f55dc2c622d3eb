import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import type { InspectionInput } from './inspection.js';
import { createTextReader } from './text-reader.js';

const input = (text: string, schemaText = ''): InspectionInput => ({ text, schemaText, options: DEFAULT_OPTIONS });

function createReader() {
  let time = 0;
  return createTextReader(() => (time += 5));
}

it('the input is parsed, and the response has the duration', () => {
  expect(createReader().read(1, input('So: {"a": 1,}'))).toMatchObject({
    inspection: { outcome: { status: 'success', repairLevel: 'deterministic_generic' }, repairs: { total: 2 } },
    tookMs: 5,
  });
});

describe('the last reading', () => {
  it('formats its complete value', () => {
    const reader = createReader();
    reader.read(1, input('{"a": 1,}'));
    expect(reader.format(1)).toBe('{\n  "a": 1\n}');
  });

  it('formats a long value on one line', () => {
    const reader = createReader();
    const text = JSON.stringify({ a: 'x'.repeat(1_000_000), b: [] });
    reader.read(1, input(text));
    expect(reader.format(1)).toBe(text);
  });

  it('formats a missing value as an empty string', () => {
    const reader = createReader();
    reader.read(1, input('no'));
    expect(reader.format(1)).toBe('');
  });

  it('streams its input chunk by chunk, and again from the start', () => {
    const reader = createReader();
    reader.read(1, input('{"a": 1}'));
    expect(reader.push(1, 3, 2)).toMatchObject({ received: 6, length: 8, ended: null });
    expect(reader.push(1, 3, 2)).toMatchObject({ received: 8, ended: { status: 'success' } });
    expect(reader.restart(1)).toMatchObject({ received: 0, ended: null });
  });

  it('makes requests about an earlier reading obsolete', () => {
    const reader = createReader();
    reader.read(1, input('{"a": 1}'));
    reader.read(2, input('{"a": 2}'));
    expect(reader.format(1)).toBeNull();
    expect(reader.restart(1)).toBeNull();
  });

  it('stays available while the next schema is still invalid', () => {
    const reader = createReader();
    reader.read(1, input('{"a": 1}'));
    expect(reader.read(2, input('{"a": 1}', '{"type": '))).toHaveProperty('schemaProblem');
    expect(reader.format(1)).toContain('"a": 1');
  });
});
