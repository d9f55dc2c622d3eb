import { describe, expect, test } from 'vitest';
import { measureProcessor } from '../../../test/processor-time.js';
import { expectError, expectSuccess, listRepairKinds, listWarnings } from '../fixtures/outcome.js';
import { withFields } from '../fixtures/schemas.js';
import { parse } from '../parse.js';
import { removeNoise } from './noise.js';

function measureParse(mark: string, count: number): number {
  return measureProcessor(() => expect(parse(`{${mark.repeat(count)}`).ok).toBe(false));
}

describe('removeNoise removes', () => {
  test.each([
    ['terminal colours', '\u001b[1;32m{\u001b[0m"a": \u001b[33m1\u001b[0m}', '{"a": 1}'],
    ['CDATA', '<![CDATA[[1, [2]]]]>', '[1, [2]]'],
    ['entities, once', '{&quot;a&quot;: &#34;x &amp;amp; &lt;y&gt; it&#39;s&#34;}', `{"a": "x &amp; <y> it's"}`],
    ['plus signs in a diff', '+{\n+  "a": 1\n+}', '{\n  "a": 1\n}'],
    ['removed lines in a diff', ' {\n-  "a": 1\n+  "a": 2\n }', ' {\n  "a": 2\n }'],
    ['line numbers', ' 9 {\n10   "a": 1\n11 }', '{\n  "a": 1\n}'],
    ['line numbers with bars, in prose', 'See:\n1| {\n2|   "a": 1\n3| }\nDone.', 'See:\n {\n   "a": 1\n }\nDone.'],
    ['commas between digits', '{"a": 1,234,567.5, "b": -12,345}', '{"a": 1234567.5, "b": -12345}'],
  ])('%s', (_, text, clean) => {
    expect(removeNoise(text)).toBe(clean);
  });
});

describe('removeNoise keeps', () => {
  test.each([
    ['commas in a list', '{"a": [1,234, 5], "b": [12,345]}'],
    ['commas before a key that is a number', '{"a": 1,234: 5}'],
    ['commas that are not thousands separators', '{"a": 1,23, "b": 1,2345}'],
    ['commas inside a string', '{"a": "total: 1,234, done"}'],
    ['entities inside a string', '{"a": "&quot;x&quot;", b}'],
    ['line numbers that are not consecutive', '1 {\n3   "a": 1\n4 }'],
    ['a single number', '1 {"a": 1}'],
    ['numbers of a multi-line list', '[\n  1,\n  2\n]'],
    ['dashes without a diff', '- {"a": 1}\n- {"a": 2}'],
  ])('%s', (_, text) => {
    expect(removeNoise(text)).toBe(text);
  });
});

describe('the removal of noise in parse', () => {
  test('is recorded, with offsets in the whole input', () => {
    const text = '1| {\n2|   "a": 1,\n3| }';
    const result = expectSuccess(parse(text));
    expect(result.value).toEqual({ a: 1 });
    expect(listRepairKinds(result)[0]).toBe('noise');
    expect(result.repairs.every(({ offset }) => offset === 0)).toBe(true);
    expect(result.candidate).toMatchObject({ start: 0, end: text.length });
  });

  test.each(['1| {\n2|   "a": 1\n3| }', '<![CDATA[{"a": 1}]]>', '{&#34;a&#34;: 1}', '{"a": 1,000.5}'])(
    'counts as a repair even if the rest is valid JSON: %j',
    (text) => {
      const result = expectSuccess(parse(text));
      expect(result.repairLevel).toBe('deterministic_generic');
      expect(listWarnings(result)).toEqual(['OUTPUT_REPAIRED_GENERIC']);
      expect(result.warnings[0]?.message).toContain('noise');
    },
  );

  test('does not happen if the input can be read', () => {
    expect(expectSuccess(parse('{"a": "\u001b[1mx",}')).value).toEqual({ a: '\u001b[1mx' });
    expect(expectSuccess(parse('{"a": "&quot;", "b": "<![CDATA[x]]>"}')).value).toEqual({
      a: '&quot;',
      b: '<![CDATA[x]]>',
    });
  });

  test('does not happen if a value was read that the schema rejects', () => {
    const error = expectError(parse('{"b": "x", "c": ", &quot;a&quot;: 1"}', withFields('a')));
    expect(error.code).toBe('SCHEMA_MISMATCH');
  });

  test('keeps the original error if it does not help', () => {
    expect(expectError(parse('\u001b[1mNo.\u001b[0m')).code).toBe('NO_JSON');
  });

  test.each(['generic', 'unified'] as const)('does not happen in profile %s', (profile) => {
    expect(parse('+{"a": 1,\n+ "b": 2}', undefined, { profile }).ok).toBe(false);
  });

  test.each(['\u001b[1m', '&quot;', '<![CDATA[', ']]>', '+{\n', '1 {\n', '": 1,234', ',234'])(
    'takes linear time for many markers in a row: %j',
    (mark) => {
      // Eight times the input takes eight times as long, or 64 times if the time is quadratic. Only this process's CPU
      // time counts, and a garbage collection pause does not fail the test, because it is measured again.
      let growth = Infinity;
      for (let turn = 0; turn < 5 && growth >= 24; turn += 1)
        growth = measureParse(mark, 40_000) / measureParse(mark, 5000);
      expect(growth).toBeLessThan(24);
    },
    60_000,
  );
});
