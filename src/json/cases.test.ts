import { describe, expect, test } from 'vitest';
import { choiceCases } from './fixtures/choice-cases.js';
import { envelopeCases } from './fixtures/envelope-cases.js';
import { thinkingCases } from './fixtures/thinking-cases.js';
import { expectError, expectSuccess } from './fixtures/outcome.js';
import { refusedCases, syntaxCases, titled, validCases } from './fixtures/reading-cases.js';
import { createSchema, withFields } from './fixtures/schemas.js';
import { parse } from './index.js';

const withAnyValue = createSchema((value): value is unknown => value !== undefined);

describe.each([
  ['thinking', thinkingCases],
  ['fences and the choice between candidates', choiceCases],
  ['envelopes and event streams', envelopeCases],
  ['syntax errors', syntaxCases],
])('%s', (_, cases) => {
  test.each(titled(cases))('%s', (_title, { text, value, schema }) => {
    expect(expectSuccess(parse(text, schema)).value).toStrictEqual(value);
  });
});

describe('syntax errors, anywhere in the input', () => {
  const containers = syntaxCases.filter(({ text }) => /^[{[]/.test(text));

  test.each(titled(containers))('in a tag: %s', (_title, { text, value }) => {
    expect(expectSuccess(parse(`Sure! <json>${text}</json> Bye.`)).value).toStrictEqual(value);
  });

  test.each(titled(containers))('in a fence: %s', (_title, { text, value }) => {
    expect(expectSuccess(parse(`Sure!\n\`\`\`json\n${text}\n\`\`\`\nBye.`, withAnyValue)).value).toStrictEqual(value);
  });
});

describe('valid JSON is never altered', () => {
  test.each(validCases)('%s', (text) => {
    const result = expectSuccess(parse(text));
    expect(result).toMatchObject({ repairLevel: 'none', repairs: [] });
    expect(result.warnings.some(({ code }) => !/^(?:INEXACT|SUSPECT)/.test(code))).toBe(false);
    expect(result.value).toStrictEqual(JSON.parse(text));
  });

  test.each(validCases)('by our own reader: %s', (text) => {
    const result = expectSuccess(parse(text, undefined, { detectDuplicates: true }));
    expect(result).toMatchObject({ repairLevel: 'none', repairs: [] });
    expect(JSON.stringify(result.value)).toBe(JSON.stringify(JSON.parse(text)));
  });
});

describe('ambiguous input is refused', () => {
  test.each(titled(refusedCases))('%s', (_title, { text }) => {
    expect(['NO_JSON', 'SYNTAX', 'TRUNCATED']).toContain(expectError(parse(text)).code);
  });

  test.each(
    titled(
      refusedCases.filter(({ title }) =>
        /^(?:prose|one word|a refusal|a question|a Markdown|a checkbox|a date|a citation|a footnote)/.test(title),
      ),
    ),
  )('input unlike JSON fails with NO_JSON: %s', (_title, { text }) => {
    expect(expectError(parse(text)).code).toBe('NO_JSON');
  });
});

describe('prototype keys are ordinary keys', () => {
  test.each([
    ['valid JSON', '{"__proto__": {"polluted": true}, "a": 1}'],
    ['broken JSON', '{"__proto__": {"polluted": true}, "a": 1,}'],
    ['unquoted', '{__proto__: {polluted: true}, a: 1}'],
    ['in a fence', '```json\n{"__proto__": {"polluted": true}, "a": 1}\n```'],
    ['twice', '{"__proto__": 1, "__proto__": {"polluted": true}, "a": 1,}'],
    ['cut', '{"a": 1, "__proto__": {"polluted": true'],
  ])('%s', (_, text) => {
    const value = expectSuccess(parse(text, withFields('a'), { allowPartial: true })).value;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(value['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('inside an envelope', () => {
    const text = JSON.stringify({ response: '{"__proto__": {"polluted": true}, "a": 1}' });
    const { value } = expectSuccess(parse(text, withFields('a')));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['polluted']).toBeUndefined();
  });

  test('constructor and prototype do not reach the function', () => {
    const { value } = expectSuccess(parse('{constructor: {prototype: {polluted: true}}, a: 1}', withFields('a')));
    expect(Object.hasOwn(value, 'constructor')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
