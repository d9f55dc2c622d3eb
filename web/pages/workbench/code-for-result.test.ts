import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import { quoteForShell, createCode } from './code-panel.js';

const origin = 'http://127.0.0.1:7171';
const schemaText = '{"type": "object"}';
const allOptions = { profile: 'tagged', allowPartial: true, align: true, ambiguous: 'last' } as const;

describe('the code for a result', () => {
  it('contains only options that differ from the defaults', () => {
    const { library, command, http } = createCode({ text: '{}', schemaText: '', options: DEFAULT_OPTIONS }, origin);
    expect(library).toContain('parse(text);');
    expect(command).toBe('sluice parse answer.txt\n');
    expect(http).toBe(`curl -s ${origin}/v1/parse -H 'content-type: application/json' -d '{"text":"{}"}'\n`);
  });

  it('contains the schema and every option', () => {
    const { library, command, http } = createCode({ text: '{}', schemaText, options: allOptions }, origin);
    expect(library).toContain('fromJsonSchema({"type": "object"})');
    expect(library).toContain("{ profile: 'tagged', allowPartial: true, align: true, ambiguous: 'last' }");
    expect(command).toBe(
      'sluice parse answer.txt --schema schema.json --profile tagged --allow-partial --align --ambiguous last\n',
    );
    expect(http).toContain(
      '"schema":{"type":"object"},"profile":"tagged","allow_partial":true,"align":true,"ambiguous":"last"',
    );
  });

  it('does not align without a schema', () => {
    const { library, command, http } = createCode({ text: '', schemaText: '', options: allOptions }, origin);
    expect([library, command, http].filter((code) => code.includes('align'))).toEqual([]);
  });

  it('reads long input from a file', () => {
    const { http } = createCode({ text: 'x'.repeat(5000), schemaText, options: allOptions }, origin);
    expect(http).toContain(
      `'{text: ., schema: $schema[0], profile: "tagged", allow_partial: true, align: true, ambiguous: "last"}'`,
    );
  });

  it('escapes every invisible or active character', () => {
    const { http } = createCode({ text: '\u202e\u001b[2J\u200b中', schemaText: '', options: DEFAULT_OPTIONS }, origin);
    expect(http).toContain(String.raw`{"text":"\u202e\u001b[2J\u200b\u4e2d"}`);
  });
});

it('a shell reads a quoted word unchanged', () => {
  const words = ["it's", "'; echo pwned; '", '$(id) `id` "x" \\', "''", 'two\nlines'];
  const output = execFileSync('sh', ['-c', `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`], {
    encoding: 'utf8',
  });
  expect(output.split('\0').slice(0, -1)).toEqual(words);
});
