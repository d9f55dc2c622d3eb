import { describe, expect, test } from 'vitest';
import { OrdersError } from '../orders-error.js';
import { readWorkRequest } from './read-work-request.js';

const request = {
  issue_ref: 'acme/shop#12',
  role: 'backend',
  repo_dir: '/srv/shop',
  worker: 'codex-cli',
  instructions: 'Fix the basket.',
};

function listProblems(read: () => unknown): readonly (readonly [string | undefined, string])[] {
  try {
    read();
  } catch (error) {
    if (error instanceof OrdersError) return error.problems.map(({ path, message }) => [path, message] as const);
    throw error;
  }
  return [];
}

describe('readWorkRequest', () => {
  test('returns a valid request unchanged', () => {
    const full = {
      ...request,
      constraints: ['No new dependencies.'],
      spec_ref: 'docs/basket.md@v2',
      spec_snapshot: '# Basket\n',
      contracts_ref: 'docs/api.md',
      links: ['https://forge.example/acme/shop/issues/12'],
      depends_on: ['acme/shop#11', 'local#setup'],
      request_id: 'r-1',
      priority: 5,
      isolation: 'worktree',
    };
    expect(readWorkRequest(full)).toEqual(full);
  });

  test('accepts PascalCase, a string instead of a list, and missing instructions', () => {
    const { instructions: _, ...requestWithoutInstructions } = request;
    expect(readWorkRequest({ ...requestWithoutInstructions, SpecRef: 'docs/x.md', Constraints: 'Be quick.' })).toEqual({
      ...requestWithoutInstructions,
      instructions: '',
      spec_ref: 'docs/x.md',
      constraints: ['Be quick.'],
    });
  });

  test('normalizes the path of the repository', () => {
    expect(readWorkRequest({ ...request, repo_dir: '/srv/./old/../shop/' }).repo_dir).toBe('/srv/shop');
  });

  test('lists all problems and what to do about them', () => {
    const wrong = { issue_ref: 'I_kwDOAB', role: '../x', repo_dir: 'shop', instructions: 7, priority: 0.5 };
    expect(listProblems(() => readWorkRequest(wrong))).toEqual([
      ['worker', 'required, but missing'],
      ['issue_ref', "a forge's internal ids are not accepted; write owner/repo#12, group/project#12 or local#id"],
      ['role', 'use letters and digits, with single - or _ between them, at most 40 characters'],
      ['instructions', 'expected string, got number'],
      ['priority', 'expected integer, got number'],
      ['repo_dir', 'use an absolute path, so it is the same for every worker'],
    ]);
    expect(() => readWorkRequest(wrong)).toThrow(
      expect.objectContaining({
        code: 'INVALID_WORK_REQUEST',
        message: expect.stringMatching(/^Invalid work request: worker: required, but missing; issue_ref: /),
      }),
    );
  });

  test.each<[string, object, string, string]>([
    ['a misspelt key', { dependson: ['local#1'], depend_on: [] }, 'depend_on', 'this property is not allowed'],
    ['a prototype key', JSON.parse('{"__proto__": {"role": "x"}}'), '__proto__', 'this property is not allowed'],
    [
      'a run id',
      { run_id: '2026-11-15-qa-0001' },
      'run_id',
      'a run id is YYYY-MM-DD-role-NNNN and is assigned by Sluice: omit it from requests',
    ],
    ['a path for a worker', { worker: '../x' }, 'worker', 'use the name of a wrapper: letters, digits, dots, - and _'],
    ['a command', { command: ['rm'] }, 'command', 'this property is not allowed'],
    [
      'an issue that depends on itself',
      { depends_on: ['acme/shop#12'] },
      'depends_on',
      'an issue cannot depend on itself; remove it from the list',
    ],
    [
      'a dependency that is not an issue',
      { depends_on: ['acme/shop#11', '77'] },
      'depends_on.1',
      "a forge's internal ids are not accepted; write owner/repo#12, group/project#12 or local#id",
    ],
    ['NUL in a path', { repo_dir: '/srv/\0shop' }, 'repo_dir', expect.stringContaining('must match the pattern')],
    ['a line break in a reference', { spec_ref: 'a\nStatus: ok' }, 'spec_ref', expect.stringContaining('must match')],
    [
      'instructions that are too long',
      { instructions: 'x'.repeat(30_001) },
      'instructions',
      'must have at most 30000 characters',
    ],
    ['two spellings that differ', { Role: 'qa' }, 'role', 'two spellings with different values; keep one of them'],
  ])('refuses %s', (_, change, path, message) => {
    expect(listProblems(() => readWorkRequest({ ...request, ...copyOwnKeys(change) }))).toContainEqual([path, message]);
  });

  test.each([null, undefined, 'text', 7, [request]])('rejects %j, which is not an object', (value) => {
    expect(listProblems(() => readWorkRequest(value))).toEqual([
      [undefined, 'must be an object with issue_ref, role, repo_dir and worker'],
    ]);
  });

  test('reports the number of remaining problems', () => {
    const keys = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`odd_${index}`, 1]));
    expect(() => readWorkRequest({ ...request, ...keys })).toThrow(/; and 20 more\.$/);
    expect(listProblems(() => readWorkRequest({ ...request, ...keys }))).toHaveLength(30);
  });
});

/** Copies the own keys of an object, including `__proto__`, which a spread would not preserve. */
function copyOwnKeys(value: object): object {
  return Object.create(null, Object.getOwnPropertyDescriptors(value)) as object;
}
