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
  expect(createReader().handle(1, { kind: 'read', input: input('So: {"a": 1,}') })).toMatchObject({
    kind: 'read',
    inspection: { outcome: { status: 'success', repairLevel: 'deterministic_generic' }, repairs: { total: 2 } },
    tookMs: 5,
  });
});

describe('the last reading', () => {
  it('formats its complete value', () => {
    const reader = createReader();
    reader.handle(1, { kind: 'read', input: input('{"a": 1,}') });
    expect(reader.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text: '{\n  "a": 1\n}' });
  });

  it('formats a long value on one line', () => {
    const reader = createReader();
    const text = JSON.stringify({ a: 'x'.repeat(1_000_000), b: [] });
    reader.handle(1, { kind: 'read', input: input(text) });
    expect(reader.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text });
  });

  it('formats a missing value as an empty string', () => {
    const reader = createReader();
    reader.handle(1, { kind: 'read', input: input('no') });
    expect(reader.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text: '' });
  });

  it('streams its input chunk by chunk, and again from the start', () => {
    const reader = createReader();
    reader.handle(1, { kind: 'read', input: input('{"a": 1}') });
    const push = { kind: 'push', reading: 1, chunkLength: 3, chunkCount: 2 } as const;
    expect(reader.handle(2, push)).toMatchObject({ kind: 'streamed', view: { received: 6, length: 8, ended: null } });
    expect(reader.handle(3, push)).toMatchObject({ view: { received: 8, ended: { status: 'success' } } });
    expect(reader.handle(4, { kind: 'stream', reading: 1 })).toMatchObject({ view: { received: 0, ended: null } });
  });

  it('makes requests about an earlier reading obsolete', () => {
    const reader = createReader();
    reader.handle(1, { kind: 'read', input: input('{"a": 1}') });
    reader.handle(2, { kind: 'read', input: input('{"a": 2}') });
    expect(reader.handle(3, { kind: 'format', reading: 1 })).toEqual({ kind: 'obsolete' });
    expect(reader.handle(4, { kind: 'stream', reading: 1 })).toEqual({ kind: 'obsolete' });
  });

  it('stays available while the next schema is still invalid', () => {
    const reader = createReader();
    reader.handle(1, { kind: 'read', input: input('{"a": 1}') });
    expect(reader.handle(2, { kind: 'read', input: input('{"a": 1}', '{"type": ') })).toMatchObject({ kind: 'schema' });
    expect(reader.handle(3, { kind: 'format', reading: 1 })).toMatchObject({ kind: 'formatted' });
  });
});
