import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readRequirements } from '../scripts/requirements/read-requirements.js';
import { PROJECT } from '../scripts/run-tool.js';
import { MUTATIONS } from '../scripts/torture/mutations.js';
import { findRow, mutate, openSandbox, runMutation } from '../scripts/torture/run-mutation.js';

const requirements = readRequirements(readFileSync(join(PROJECT, 'docs/requirements.md'), 'utf8'));
const row = { number: '000.1', behaviour: 'Adds.', file: 'src/add.test.ts', test: 'add > one and one' };
const mutation = { clause: 'Adds.', file: 'src/add.ts', search: 'a + b', replace: 'a - b' };

describe('the mutations of npm run torture', () => {
  it.each(MUTATIONS)('can be applied, and belong to one row: $clause', ({ file, ...change }) => {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    expect(mutate(text, { file, ...change })).not.toBe(undefined);
    expect(findRow({ file, ...change }, requirements)).toBeDefined();
    // A function that the file does not have would make every test fail.
    expect(listCalledFunctions(change.replace).filter((name) => !text.includes(`${name}(`))).toEqual([]);
  });
});

/** Lists the functions that a code fragment calls by name. */
function listCalledFunctions(code: string): string[] {
  return [...code.matchAll(/(?<![.\w])[a-z]\w*(?=\()/g)].map(([name]) => name).filter((name) => name !== 'if');
}

describe('runMutation', () => {
  it('reports which mutations the named tests detect, which they do not, and which cannot be judged', async () => {
    const sandbox = await openSandbox({
      'src/add.ts': 'export const add = (a: number, b: number): number => a + b;\nexport const unused = 1;\n',
      'src/add.test.ts': `import { expect, test, describe } from 'vitest';
        import { add } from './add.js';
        describe('add', () => {
          test('one and one', () => expect(add(1, 1)).toBe(2));
          test('nothing and nothing', () => expect(add(0, 0)).toBe(0));
        });`,
    });
    onTestFinished(sandbox.remove);
    expect(await runMutation(sandbox, mutation, row)).toBe('killed');
    // The same mutation, but the named test does not detect it.
    expect(await runMutation(sandbox, mutation, { ...row, test: 'add > nothing and nothing' })).toBe('survived');
    const torn = { ...mutation, replace: 'a +' };
    expect(await runMutation(sandbox, torn, row)).toEqual({ problem: 'its tests were not run' });
    const gone = { ...mutation, search: 'a * b' };
    expect(await runMutation(sandbox, gone, row)).toEqual({ problem: '"a * b" must occur exactly once in src/add.ts' });
  });

  it('breaks the sources in a copy: a default, the history, a signal', async () => {
    const sandbox = await openSandbox();
    onTestFinished(sandbox.remove);
    for (const clause of [
      'The temperature is 0.7 by default.',
      'A retry sends no history: neither an earlier answer nor an earlier correction.',
      '… a signal.',
    ]) {
      const [named] = MUTATIONS.filter((one) => one.clause === clause);
      const its = named === undefined ? undefined : findRow(named, requirements);
      const outcome = named && its ? await runMutation(sandbox, named, its) : 'not found';
      expect({ clause, outcome }).toEqual({ clause, outcome: 'killed' });
    }
  });
});
