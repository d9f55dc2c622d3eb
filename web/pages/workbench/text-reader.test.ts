import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import type { InspectionInput } from './inspection.js';
import { createTextReader } from './text-reader.js';

const input = (text: string, schemaText = ''): InspectionInput => ({ text, schemaText, options: DEFAULT_OPTIONS });

function reader() {
  let time = 0;
  return createTextReader(() => (time += 5));
}

it('reads a text and says how long it took', () => {
  expect(reader().answer(1, { kind: 'read', input: input('So: {"a": 1,}') })).toMatchObject({
    kind: 'read',
    inspection: { outcome: { status: 'success', repairLevel: 'deterministic_generic' }, repairs: { total: 2 } },
    tookMs: 5,
  });
});

describe('the last reading', () => {
  it('returns the whole value', () => {
    const reads = reader();
    reads.answer(1, { kind: 'read', input: input('{"a": 1,}') });
    expect(reads.answer(2, { kind: 'write', reading: 1 })).toEqual({ kind: 'written', text: '{\n  "a": 1\n}' });
  });

  it('a long value comes on one line', () => {
    const reads = reader();
    const text = JSON.stringify({ a: 'x'.repeat(1_000_000), b: [] });
    reads.answer(1, { kind: 'read', input: input(text) });
    expect(reads.answer(2, { kind: 'write', reading: 1 })).toEqual({ kind: 'written', text });
  });

  it('nothing is written without a value', () => {
    const reads = reader();
    reads.answer(1, { kind: 'read', input: input('no') });
    expect(reads.answer(2, { kind: 'write', reading: 1 })).toEqual({ kind: 'written', text: '' });
  });

  it('the text can be read piece by piece, and from the beginning again', () => {
    const reads = reader();
    reads.answer(1, { kind: 'read', input: input('{"a": 1}') });
    const push = { kind: 'push', reading: 1, characters: 3, pieces: 2 } as const;
    expect(reads.answer(2, push)).toMatchObject({ kind: 'streamed', view: { taken: 6, length: 8, ended: null } });
    expect(reads.answer(3, push)).toMatchObject({ view: { taken: 8, ended: { status: 'success' } } });
    expect(reads.answer(4, { kind: 'stream', reading: 1 })).toMatchObject({ view: { taken: 0, ended: null } });
  });

  it('answers nothing about a text after another was read', () => {
    const reads = reader();
    reads.answer(1, { kind: 'read', input: input('{"a": 1}') });
    reads.answer(2, { kind: 'read', input: input('{"a": 2}') });
    expect(reads.answer(3, { kind: 'write', reading: 1 })).toEqual({ kind: 'gone' });
    expect(reads.answer(4, { kind: 'stream', reading: 1 })).toEqual({ kind: 'gone' });
  });

  it('stays available while the next schema is still invalid', () => {
    const reads = reader();
    reads.answer(1, { kind: 'read', input: input('{"a": 1}') });
    expect(reads.answer(2, { kind: 'read', input: input('{"a": 1}', '{"type": ') })).toMatchObject({ kind: 'schema' });
    expect(reads.answer(3, { kind: 'write', reading: 1 })).toMatchObject({ kind: 'written' });
  });
});
