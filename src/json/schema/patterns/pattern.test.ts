import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileNativePattern, createSafePatternCompiler } from './pattern.js';
import { compilePatternProgram } from './pattern-program.js';

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\d',
  '\\w',
  '\\s',
  '[ab]',
  '[^a]',
  '[\\]-]',
  '\\.',
  '\\u0061',
  '\\x62',
  '\\p{L}',
  '\\P{Lu}',
  '😀',
  '\\u{1F600}',
  '\\ud83d\\ude00',
  '^',
  '$',
  '\\b',
);
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '{1,2}?');

/** Random regular expressions using everything that can be matched in linear time. */
const randomPattern = fc.letrec<{ choice: string; sequence: string; term: string }>((tie) => ({
  choice: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('term'), { maxLength: 4 }).map((parts) => parts.join('')),
  term: fc.oneof(
    { maxDepth: 2 },
    fc.tuple(atom, quantifier).map(([part, count]) => (/^(?:[\^$]|\\[bB])$/.test(part) ? part : part + count)),
    fc
      .tuple(fc.constantFrom('(', '(?:'), tie('choice'), quantifier)
      .map(([open, part, count]) => `${open}${part})${count}`),
  ),
})).choice;

const randomText = fc
  .array(fc.constantFrom('a', 'b', 'A', '1', ' ', '.', '-', ']', '😀', '\ud83d', '\n', '_'), { maxLength: 6 })
  .map((parts) => parts.join(''));

test("the linear matcher agrees with the engine's regular expressions", () => {
  let matched = 0;
  fc.assert(
    fc.property(randomPattern, fc.array(randomText, { minLength: 8, maxLength: 8 }), (pattern, texts) => {
      const native = compileNativePattern(pattern, '#');
      const linear = createSafePatternCompiler()(pattern, '#');
      for (const text of texts) {
        const expected = native.test(text, { steps: 0 });
        expect(linear.test(text, { steps: 100_000 }), `${pattern} on ${JSON.stringify(text)}`).toBe(expected);
        if (expected) matched += 1;
      }
    }),
    { numRuns: 500 },
  );
  expect(matched).toBeGreaterThan(500);
}, 30_000);

test.each([
  ['^[\\w-.]+$', 'a-.', true],
  ['^\\p{L}\\-$', 'é-', false],
  ['^\\p{L}\\-$', 'p{L}-', true],
  ['a{,2}\\-', 'a{,2}-', true],
  ['^.\\-$', '😀-', false],
  ['^..\\-$', '😀-', true],
])(
  'a pattern that is only valid without the u flag is compiled without it: %s matches %j: %s',
  (pattern, text, expected) => {
    expect(() => new RegExp(pattern, 'u')).toThrow(SyntaxError);
    expect(new RegExp(pattern).test(text)).toBe(expected);
    expect(createSafePatternCompiler()(pattern, '#').test(text, { steps: 1000 })).toBe(expected);
  },
);

test.each(['', 'a', 'ab', ' ', 'a b', '--'])('the linear matcher agrees with the engine about \\B on %j', (text) => {
  // Not among the random patterns: V8 also matches between the two halves of a surrogate pair, where no character
  // starts.
  for (const pattern of ['\\B', '^\\B', 'a\\Bb', '\\B$']) {
    expect(createSafePatternCompiler()(pattern, '#').test(text, { steps: 1000 })).toBe(
      new RegExp(pattern, 'u').test(text),
    );
  }
});

test.each(['(?i:a)', '(?-i:a)', '(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(a)\\1'])('%s is refused', (pattern) => {
  // Not through the safe compiler: Node.js before 23 refuses inline flags itself.
  expect(() => compilePatternProgram(pattern, 'u', '#')).toThrow(expect.objectContaining({ code: 'INVALID_SCHEMA' }));
});

test('a string that costs more than the remaining steps does not match', () => {
  const allowance = { steps: 100 };
  expect(createSafePatternCompiler()('^a*$', '#').test('a'.repeat(1000), allowance)).toBe(false);
  expect(allowance.steps).toBeLessThan(0);
});

test.each([
  [
    'assertions',
    String.raw`(?:${Array(1600)
      .fill(String.raw`\B`)
      .join('|')})x`,
  ],
  ['empty alternatives', `(?:${'|'.repeat(1600)})x`],
  ['optional groups', `${'(?:)?'.repeat(1600)}x`],
])('every visited state is charged, not only states that consume a character: %s', (_title, pattern) => {
  const allowance = { steps: 1_000_000 };
  expect(createSafePatternCompiler()(pattern, '#').test('-'.repeat(100), allowance)).toBe(false);
  expect(1_000_000 - allowance.steps).toBeGreaterThan(100 * 1600);
});

test("a schema's patterns share a bound, and equal patterns are compiled once", () => {
  const compile = createSafePatternCompiler();
  const patterns = Array.from({ length: 30 }, (_item, index) => `a{${4000 + index}}`);
  expect(() => patterns.map((pattern) => compile(pattern, '#'))).toThrow(
    expect.objectContaining({ code: 'INVALID_SCHEMA' }),
  );
  const same = createSafePatternCompiler();
  expect(new Set(patterns.map(() => same('a{4000}', '#'))).size).toBe(1);
});
