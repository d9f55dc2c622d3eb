import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  breakClauses,
  chooseClauses,
  mutate,
  openSandbox,
  runMutation,
} from '../scripts/requirements/break-clauses.js';
import { listClauses, readRequirements } from '../scripts/requirements/clauses.js';
import { PROJECT } from '../scripts/run-tool.js';

const clauses = listClauses(await readRequirements(join(PROJECT, 'docs/requirements.json')));
const mutations = clauses.flatMap((clause) =>
  clause.mutations.map((mutation) => ({ clause: clause.behaviour, ...mutation })),
);
const adds = { tests: [{ file: 'src/add.test.ts', name: 'add > one and one' }] };
/** Clauses about a default, the history and a signal. */
const BROKEN = [
  'The temperature is 0.7 by default.',
  'A retry sends no history: neither an earlier answer nor an earlier correction.',
  '… a signal.',
];
const PLANTED = { file: 'src/json/parse.ts', search: 'planted', replace: '' };
const mutation = { file: 'src/add.ts', search: 'a + b', replace: 'a - b' };

describe('the mutations of docs/requirements.json', () => {
  it.each(mutations)('can be applied: $clause', ({ file, search, replace }) => {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    expect(mutate(text, { file, search, replace })).not.toBe(undefined);
    // A function that the file does not have would make every test fail.
    expect(listCalledFunctions(replace).filter((name) => !text.includes(`${name}(`))).toEqual([]);
  });
});

describe('chooseClauses', () => {
  it('chooses a tenth by the commit, and every clause in time', () => {
    const chosen = chooseClauses(clauses, 'a');
    expect(chosen).toHaveLength(Math.ceil(clauses.length / 10));
    expect(chooseClauses(clauses, 'a')).toEqual(chosen);
    const commits = Array.from({ length: 200 }, (_, commit) => chooseClauses(clauses, String(commit)));
    expect(new Set(commits.flat()).size).toBe(clauses.length);
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
    expect(await runMutation(sandbox, mutation, adds)).toBe('killed');
    // The same mutation, but the named test does not detect it.
    const nothing = { file: 'src/add.test.ts', name: 'add > nothing and nothing' };
    expect(await runMutation(sandbox, mutation, { tests: [nothing] })).toBe('survived');
    expect(await runMutation(sandbox, mutation, { tests: [nothing, ...adds.tests] })).toBe('killed');
    const torn = { ...mutation, replace: 'a +' };
    expect(await runMutation(sandbox, torn, adds)).toEqual({ problem: 'its tests were not run' });
    const gone = { ...mutation, search: 'a * b' };
    expect(await runMutation(sandbox, gone, adds)).toEqual({
      problem: '"a * b" must occur exactly once in src/add.ts',
    });
  });
});

describe('breakClauses', () => {
  it('breaks the sources in copies, and lists the mutations that no test noticed', async () => {
    const chosen = clauses.filter(({ behaviour }) => BROKEN.includes(behaviour));
    expect(chosen).toHaveLength(BROKEN.length);
    const { killed, problems } = await breakClauses([
      ...chosen,
      ...chosen.slice(0, 1).map((clause) => ({ ...clause, mutations: [{ ...PLANTED }] })),
    ]);
    expect(killed).toBe(chosen.flatMap((clause) => clause.mutations).length);
    expect(problems).toEqual([expect.stringContaining('"planted" must occur exactly once in src/json/parse.ts')]);
  });
});
