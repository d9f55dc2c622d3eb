import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import type { InspectionInput } from './inspection.js';
import { createTextReader } from './text-reader.js';

const input = (text: string, schemaText = ''): InspectionInput => ({ text, schemaText, options: DEFAULT_OPTIONS });

function reader() {
  let time = 0;
  return createTextReader(() => (time += 5));
}

it('parses a text and reports how long it took', () => {
  expect(reader().handle(1, { kind: 'read', input: input('So: {"a": 1,}') })).toMatchObject({
    kind: 'read',
    inspection: { outcome: { status: 'success', repairLevel: 'deterministic_generic' }, repairs: { total: 2 } },
    tookMs: 5,
  });
});

describe('the last reading', () => {
  it('returns the complete value', () => {
    const reads = reader();
    reads.handle(1, { kind: 'read', input: input('{"a": 1,}') });
    expect(reads.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text: '{\n  "a": 1\n}' });
  });

  it('a long value is on one line', () => {
    const reads = reader();
    const text = JSON.stringify({ a: 'x'.repeat(1_000_000), b: [] });
    reads.handle(1, { kind: 'read', input: input(text) });
    expect(reads.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text });
  });

  it('formats a missing value as an empty text', () => {
    const reads = reader();
    reads.handle(1, { kind: 'read', input: input('no') });
    expect(reads.handle(2, { kind: 'format', reading: 1 })).toEqual({ kind: 'formatted', text: '' });
  });

  it('the text can be streamed chunk by chunk, and from the beginning again', () => {
    const reads = reader();
    reads.handle(1, { kind: 'read', input: input('{"a": 1}') });
    const push = { kind: 'push', reading: 1, chunkLength: 3, chunkCount: 2 } as const;
    expect(reads.handle(2, push)).toMatchObject({ kind: 'streamed', view: { received: 6, length: 8, ended: null } });
    expect(reads.handle(3, push)).toMatchObject({ view: { received: 8, ended: { status: 'success' } } });
    expect(reads.handle(4, { kind: 'stream', reading: 1 })).toMatchObject({ view: { received: 0, ended: null } });
  });

  it('answers no request about a text after another was parsed', () => {
    const reads = reader();
    reads.handle(1, { kind: 'read', input: input('{"a": 1}') });
    reads.handle(2, { kind: 'read', input: input('{"a": 2}') });
    expect(reads.handle(3, { kind: 'format', reading: 1 })).toEqual({ kind: 'obsolete' });
    expect(reads.handle(4, { kind: 'stream', reading: 1 })).toEqual({ kind: 'obsolete' });
  });

  it('stays available while the next schema is still invalid', () => {
    const reads = reader();
    reads.handle(1, { kind: 'read', input: input('{"a": 1}') });
    expect(reads.handle(2, { kind: 'read', input: input('{"a": 1}', '{"type": ') })).toMatchObject({ kind: 'schema' });
    expect(reads.handle(3, { kind: 'format', reading: 1 })).toMatchObject({ kind: 'formatted' });
  });
});
