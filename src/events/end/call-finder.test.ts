import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FileToolCall } from '../attempt/tool-calls.js';
import { createCallFinder } from './artifacts.js';

const createCall = (toolCallId: string, searchableText: string, paths: readonly string[] = []): FileToolCall => ({
  toolCallId,
  name: 'tool',
  searchableText: searchableText,
  paths,
});

const findCallId = (calls: readonly FileToolCall[], path: string, paths: readonly string[] = [path]) =>
  createCallFinder(calls, new Set(paths))(path, 'created')?.tool_call_id ?? null;

it.each([
  ['its name alone', 'touch a.md', 'a.md'],
  ['the end of a longer path', 'cat /w/out/a.md', 'out/a.md'],
  ['a name with blanks', 'touch "my file (1).txt"', 'my file (1).txt'],
  ['a non-ASCII name', 'touch 说明', '说明'],
  ['a name that ends with non-ASCII characters', 'touch docs/v1-说明', 'docs/v1-说明'],
])('a file is found by %s', (_, searchableText, path) => {
  expect(findCallId([createCall('c1', 'ls'), createCall('c2', searchableText)], path)).toBe('c2');
});

it('does not match part of a file name', () => {
  expect(findCallId([createCall('c1', 'touch data.md a.mdx x-a.md')], 'a.md')).toBeNull();
});

// A naive implementation that compares every call with every file; the fast version must return the same result.
it('finds the same call as comparing all pairs', () => {
  const path = fc.array(fc.constantFrom('a', 'b.c', 'd-e', '文', 'f g'), { minLength: 1, maxLength: 3 });
  const paths = path.map((steps) => steps.join('/'));
  const searchableText = fc.array(fc.oneof(paths, fc.constantFrom(' ', '/', 'x', '"')), { maxLength: 8 });
  const calls = fc.array(
    fc.tuple(
      searchableText,
      fc.array(
        paths.map((targets) => `/w/${targets}`),
        { maxLength: 2 },
      ),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(calls, fc.array(paths, { minLength: 1 }), (inputs, changed) => {
      const fileCalls = inputs.map(([words, targets], index) => createCall(`c${index}`, words.join(''), targets));
      const findCall = createCallFinder(fileCalls, new Set(changed));
      for (const changedPath of changed) {
        for (const change of ['created', 'modified'] as const) {
          const targetCalls = fileCalls.filter(({ paths: targets }) =>
            targets.some((name) => name === changedPath || name.endsWith(`/${changedPath}`)),
          );
          const targetCall = change === 'created' ? targetCalls[0] : targetCalls.at(-1);
          const escaped = changedPath.replaceAll('.', String.raw`\.`);
          const pattern = new RegExp(String.raw`(?<![\w.-])${escaped}(?![\w.-])`, 'u');
          const expected = targetCall ?? fileCalls.find((call) => pattern.test(call.searchableText));
          expect(findCall(changedPath, change)?.tool_call_id).toBe(expected?.toolCallId);
        }
      }
    }),
  );
});

it('does not compare all pairs of thousands of files and calls', () => {
  const calls = Array.from({ length: 4000 }, (_, index) =>
    createCall(`c${index}`, `build part-${index} ${'x '.repeat(100)}`),
  );
  const paths = Array.from({ length: 20_000 }, (_, index) => `dist/chunk-${index}.js`);
  const findCall = createCallFinder(calls, new Set(paths));
  expect(paths.filter((path) => findCall(path, 'created') !== null)).toEqual([]);
});
