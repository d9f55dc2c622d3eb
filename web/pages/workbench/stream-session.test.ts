import { expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import { readSchemaText } from './locate-path.js';
import { startStream, choosePace } from './text-reader.js';

const text = 'Sure: {"name": "Ada", "tags": ["x", "y"]} Done.';

it('shows the partial value, and the paths that have changed', () => {
  const session = startStream(text, undefined, DEFAULT_OPTIONS);
  const view = session.push(6, 3);
  expect(view).toMatchObject({
    received: 18,
    length: text.length,
    complete: false,
    ended: null,
    changed: ['', 'name'],
  });
  expect(view.value?.rows.map(({ key, text: line }) => `${key ?? ''}${line}`)).toEqual(['{', '"name""Ad"', '}']);
});

it('ends with the result of `parse` for the whole input', () => {
  const view = startStream(text, undefined, DEFAULT_OPTIONS).push(5, 1000);
  expect(view).toMatchObject({
    received: text.length,
    complete: true,
    ended: { status: 'success', message: 'deterministic_generic' },
  });
});

it('ends with the selected value, even if another one came first', () => {
  const schema = readSchemaText('{"required": ["verdict"]}');
  if (!schema.ok) throw new Error('The schema is invalid.');
  const answer = 'The tests said {"failed": 0}. So:\n```json\n{"verdict": "pass"}\n```';
  const view = startStream(answer, schema.schema, DEFAULT_OPTIONS).push(5, 1000);
  expect(view.ended?.status).toBe('success');
  expect(view.value?.rows.map(({ key, text: line }) => `${key ?? ''}${line}`)).toEqual(['{', '"verdict""pass"', '}']);
});

it('shows no value before one has started', () => {
  expect(startStream(text, undefined, DEFAULT_OPTIONS).push(1, 0)).toMatchObject({
    received: 0,
    value: null,
    tail: '',
  });
});

it('input without a tag ends as a comment if tags are required', () => {
  const view = startStream('No.', undefined, { ...DEFAULT_OPTIONS, profile: 'tagged' }).push(10, 1);
  expect(view.ended?.status).toBe('comment');
});

it('slow input arrives chunk by chunk', () => {
  expect(choosePace(100, 4)).toEqual({ intervalMs: 40, chunkCount: 1 });
});

it('fast input arrives in multiple chunks at a time, not more often than a page is drawn', () => {
  expect(choosePace(1000, 1)).toEqual({ intervalMs: 33, chunkCount: 33 });
});

it('does not split a chunk that is longer than one step', () => {
  expect(choosePace(20_000, 512)).toEqual({ intervalMs: 33, chunkCount: 1 });
});
