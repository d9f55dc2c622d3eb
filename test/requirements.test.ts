import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRequirements } from '../scripts/requirements/check-requirements.js';
import { readRequirements } from '../scripts/requirements/read-requirements.js';
import { runScript } from './bundle-program.js';
import { makeFolder } from './temporary-folder.js';

const row = (number: string, file: string, test: string) =>
  `| ${number} | Be right. | [${file}](../${file}) | \`${test}\` |`;

describe('the rows of docs/requirements.md', () => {
  it('are read with number, file and test', () => {
    const page = `# Title\n\n| number | behaviour | test file | test |\n| --- | --- | --- | --- |\n${row('000.1', 'a.test.ts', 'a > b')}\n`;
    expect(readRequirements(page)).toEqual([
      { number: '000.1', behaviour: 'Be right.', file: 'a.test.ts', test: 'a > b' },
    ]);
  });

  it.each([
    ['without a test', '| 000.1 | Be right. | [a.test.ts](../a.test.ts) |  |'],
    ['without a file', '| 000.1 | Be right. | a.test.ts | `a` |'],
    ['whose link leads elsewhere', '| 000.1 | Be right. | [a.test.ts](../b.test.ts) | `a` |'],
    ['without a number', '|  | Be right. | [a.test.ts](../a.test.ts) | `a` |'],
  ])('are refused %s', (_, line) => {
    expect(() => readRequirements(line)).toThrow('cannot read the row');
  });
});

describe('requirements', () => {
  const tests = [
    { file: 'a.test.ts', name: 'adds > one and one', isRun: true },
    { file: 'a.test.ts', name: 'adds > nothing', isRun: true },
    { file: 'a.test.ts', name: 'divides > by zero', isRun: false },
  ];
  const check = (...rows: readonly (readonly [number: string, file: string, test: string])[]) =>
    checkRequirements(
      rows.map(([number, file, test]) => ({ number, behaviour: 'Be right.', file, test })),
      tests,
    );

  it('name a test, or a group of tests', () => {
    expect(check(['000.1', 'a.test.ts', 'adds > one and one'], ['000.2', 'a.test.ts', 'adds'])).toEqual([]);
  });

  it.each([
    ['whose file is gone', 'b.test.ts', 'adds', '000.1: b.test.ts is gone or has no tests'],
    ['whose test is gone', 'a.test.ts', 'adds > two', '000.1: a.test.ts has no test "adds > two"'],
    ['whose test only begins like another', 'a.test.ts', 'add', '000.1: a.test.ts has no test "add"'],
    ['whose test is skipped', 'a.test.ts', 'divides', '000.1: "divides" of a.test.ts is not run'],
  ])('are not met %s', (_, file, test, problem) => {
    expect(check(['000.1', file, test])).toEqual([problem]);
  });

  it('are numbered without a gap, and there are some', () => {
    const group = ['a.test.ts', 'adds'] as const;
    expect(check(['000.1', ...group], ['000.3', ...group], ['001.1', ...group])).toEqual(['000.3: should be 000.2']);
    expect(check()).toEqual(['no requirement was found']);
  });
});

describe('npm run requirements', () => {
  it('finds the tests that a table makes, and misses a planted one', async () => {
    const file = 'src/orders/decide/decide.test.ts';
    const page = [
      row('000.1', file, 'row 9: fail > with the code ci_failed: blocked with ci_failed'),
      row('000.2', file, 'row 9: fail > planted'),
      row('000.3', 'src/planted.test.ts', 'planted'),
    ];
    const folder = await makeFolder({ 'requirements.md': page.join('\n') });
    const { exitCode, stderr } = await runScript('scripts/requirements.ts', [join(folder, 'requirements.md')]);
    expect(exitCode).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([
      `000.2: ${file} has no test "row 9: fail > planted"`,
      '000.3: src/planted.test.ts is gone or has no tests',
    ]);
  });
});
