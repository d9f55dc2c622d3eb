import { describe, expect, it } from 'vitest';
import { readCases } from '../scripts/conformance/conformance-case.js';
import { runScript } from './bundle-program.js';
import { makeFolder } from './temporary-folder.js';

const correctSet = [
  { id: 'repair', kind: 'repair', input: '{a: 1', expected: { a: 1 } },
  { id: 'repair-refused', kind: 'repair', input: '', expectError: true },
  { id: 'extract', kind: 'extract', input: 'So: {"a": 1}.', expected: { a: 1 } },
  { id: 'extract-refused', kind: 'extract', input: 'Nothing here.', expectError: true },
  { id: 'partial', kind: 'partial', input: '[1, "b', expected: [1, 'b'] },
  { id: 'zero', kind: 'extract', input: '[-0]', expected: [0] },
  { id: 'schema', kind: 'schema', input: '{"a": 1}', schema: { type: 'object', required: ['a'] }, expected: { a: 1 } },
  {
    id: 'schema-refused',
    kind: 'schema',
    input: '{"b": 1}',
    schema: { type: 'object', required: ['a'] },
    expectError: true,
  },
];
const incorrectSet = [
  { id: 'other-value', kind: 'repair', input: '{a: 1}', expected: { a: 2 } },
  { id: 'value-for-error', kind: 'extract', input: '{"a": 1}', expectError: true },
  { id: 'error-for-value', kind: 'extract', input: 'Nothing here.', expected: null },
  { id: 'cut', kind: 'extract', input: '{"a": 1', expected: { a: 2 } },
];

async function conform(files: Readonly<Record<string, string>>, ...options: string[]) {
  return runScript('scripts/conformance.ts', [await makeFolder(files), ...options]);
}

describe('npm run conformance', () => {
  it('scores every set, and shows each miss with its input, expectation and answer', async () => {
    const { exitCode, stdout } = await conform({
      'clean.json': JSON.stringify(correctSet),
      'mixed.json': JSON.stringify([...correctSet, ...incorrectSet]),
      'README.md': 'not a set',
    });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      'clean.json: 8 of 8 (100.0%)',
      'mixed.json: 8 of 12 (66.7%)',
    ]);
    expect([...stdout.matchAll(/^ {2}(\S+)$/gm)].map((match) => match[1])).toEqual(incorrectSet.map((one) => one.id));
    expect(stdout).toContain('input     "{a: 1}"\n    expected  {"a":2}\n    got       {"a":1}');
    expect(stdout).toContain('expected  null\n    got       NO_JSON');
  });

  it('prints one JSON line per set with --json', async () => {
    const { stdout } = await conform({ 'mixed.json': JSON.stringify([...correctSet, ...incorrectSet]) }, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      set: 'mixed.json',
      cases: 12,
      misses: [
        { id: 'other-value', answer: { value: { a: 1 } } },
        { id: 'value-for-error' },
        { id: 'error-for-value' },
        { id: 'cut' },
      ],
    });
  });

  it('refuses an unknown option and a missing folder in one line', async () => {
    const usage = "Unknown option '--foo'; usage: npm run conformance -- DIR [--json]\n";
    expect(await runScript('scripts/conformance.ts', ['.', '--foo'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: usage,
    });
    const { exitCode, stderr } = await runScript('scripts/conformance.ts', ['/no/such/folder']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^[^\n]*\/no\/such\/folder[^\n]*\n$/);
  });

  it('refuses a folder without sets, an invalid file, and a missing folder name', async () => {
    expect(await conform({})).toMatchObject({ exitCode: 2 });
    expect(await conform({ 'a.json': '[{"id": "x"}]' })).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await runScript('scripts/conformance.ts')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('readCases', () => {
  it.each([
    ['an object', '{}'],
    ['an unknown kind', '[{"id": "x", "input": "", "kind": "other", "expected": 1}]'],
    ['neither value nor error', '[{"id": "x", "input": "", "kind": "repair"}]'],
    ['a schema case without schema', '[{"id": "x", "input": "", "kind": "schema", "expected": 1}]'],
  ])('refuses %s', (_, text) => {
    expect(() => readCases(text)).toThrow(TypeError);
  });
});
