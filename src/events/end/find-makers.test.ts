import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Touch } from '../attempt/tool-calls.js';
import { findMakers } from './artifacts.js';

const touch = (toolCallId: string, mention: string, paths: readonly string[] = []): Touch => ({
  toolCallId,
  name: 'tool',
  mention,
  paths,
});

const findMaker = (touches: readonly Touch[], path: string, paths: readonly string[] = [path]) =>
  findMakers(touches, new Set(paths))(path, 'created')?.tool_call_id ?? null;

it.each([
  ['its name alone', 'touch a.md', 'a.md'],
  ['the end of a longer path', 'cat /w/out/a.md', 'out/a.md'],
  ['a name with blanks', 'touch "my file (1).txt"', 'my file (1).txt'],
  ['a name beyond ASCII', 'touch 说明', '说明'],
  ['a name that ends beyond ASCII', 'touch docs/v1-说明', 'docs/v1-说明'],
])('a file is found by %s', (_, mention, path) => {
  expect(findMaker([touch('c1', 'ls'), touch('c2', mention)], path)).toBe('c2');
});

it('does not match part of a file name', () => {
  expect(findMaker([touch('c1', 'touch data.md a.mdx x-a.md')], 'a.md')).toBeNull();
});

// A naive implementation that compares every call with every file; the fast version must return the same result.
it('finds the same call as comparing all pairs', () => {
  const path = fc.array(fc.constantFrom('a', 'b.c', 'd-e', '文', 'f g'), { minLength: 1, maxLength: 3 });
  const paths = path.map((steps) => steps.join('/'));
  const mention = fc.array(fc.oneof(paths, fc.constantFrom(' ', '/', 'x', '"')), { maxLength: 8 });
  const touches = fc.array(
    fc.tuple(
      mention,
      fc.array(
        paths.map((own) => `/w/${own}`),
        { maxLength: 2 },
      ),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(touches, fc.array(paths, { minLength: 1 }), (given, changed) => {
      const all = given.map(([words, own], index) => touch(`c${index}`, words.join(''), own));
      const find = findMakers(all, new Set(changed));
      for (const one of changed) {
        for (const change of ['created', 'modified'] as const) {
          const owners = all.filter(({ paths: own }) => own.some((name) => name === one || name.endsWith(`/${one}`)));
          const owner = change === 'created' ? owners[0] : owners.at(-1);
          const escaped = one.replaceAll('.', String.raw`\.`);
          const whole = new RegExp(String.raw`(?<![\w.-])${escaped}(?![\w.-])`, 'u');
          const maker = owner ?? all.find((call) => whole.test(call.mention));
          expect(find(one, change)?.tool_call_id).toBe(maker?.toolCallId);
        }
      }
    }),
  );
});

it('does not compare all pairs of thousands of files and calls', () => {
  const touches = Array.from({ length: 4000 }, (_, index) =>
    touch(`c${index}`, `build part-${index} ${'x '.repeat(100)}`),
  );
  const paths = Array.from({ length: 20_000 }, (_, index) => `dist/chunk-${index}.js`);
  const find = findMakers(touches, new Set(paths));
  expect(paths.filter((path) => find(path, 'created') !== null)).toEqual([]);
});
