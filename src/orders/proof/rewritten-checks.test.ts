import { describe, expect, it } from 'vitest';
import { listRewritten, listScripts } from './rewritten-checks.js';

/** Lists what a change to this one file rewrites in a check with this command. */
function listFor(command: readonly string[], path: string, scripts: readonly string[] = []): readonly string[] {
  const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
  return listRewritten({ command }, { files: [file], scripts });
}

describe('listRewritten', () => {
  it.each<[readonly string[], string]>([
    [['./check.sh'], 'check.sh'],
    [['sh', 'check.sh'], 'check.sh'],
    [['bash', '-eu', './ci/check.sh', '--all'], 'ci/check.sh'],
    [['sh', '-c', 'cd . && bash ci/check.sh; true'], 'ci/check.sh'],
    [['sh', '-c', 'if ./check.sh; then true; fi'], 'check.sh'],
    [['env', 'CI=1', 'python3', 'run_checks.py'], 'run_checks.py'],
    [['sh', '-c', 'CI=1 ./check.sh'], 'check.sh'],
    [['timeout', '30', './check.sh'], 'check.sh'],
    [['timeout', '-k', '5s', '1.5m', 'sh', './check.sh'], 'check.sh'],
    [['nice', '-n', '10', './check.sh'], 'check.sh'],
    [['sh', '-c', 'until nohup ./check.sh; do sleep 1; done'], 'check.sh'],
    [['make', 'test'], 'Makefile'],
    [['npx', 'vitest'], 'node_modules/.bin/vitest'],
    [['anything'], 'packages/a/node_modules/x/index.js'],
  ])('finds that %j runs %s', (command, path) => {
    expect(listFor(command, path)).toEqual([path]);
  });

  it('lists package.json if its scripts change and a package manager runs them', () => {
    expect(listFor(['npm', 'test'], 'package.json', ['package.json'])).toEqual(['package.json']);
    expect(listFor(['sh', '-c', 'pnpm test'], 'package.json', ['package.json'])).toEqual(['package.json']);
    expect(listFor(['npm', 'test'], 'package.json')).toEqual([]);
    expect(listFor(['cargo', 'test'], 'package.json', ['package.json'])).toEqual([]);
  });

  it('lists the files that the preparation runs', () => {
    const file = { kind: 'added', path: 'setup.sh', oldMode: '000000', newMode: '100755', blob: 'a' } as const;
    const check = { command: ['true'], prepare: ['./setup.sh'] };
    expect(listRewritten(check, { files: [file], scripts: [] })).toEqual(['setup.sh']);
  });

  it.each<[readonly string[], string]>([
    [['npm', 'test'], '.npmrc'],
    [['npx', 'vitest', 'run'], 'vitest.config.ts'],
    [['npm', 'test'], 'packages/a/tsconfig.test.json'],
    [['pnpm', 'test'], 'pnpm-workspace.yaml'],
    [['yarn', 'test'], '.yarnrc.yml'],
    [['bun', 'test'], 'bunfig.toml'],
    [['python3', '-m', 'pytest'], 'tests/conftest.py'],
    [['pytest'], 'pytest.ini'],
    [['tox'], 'tox.ini'],
    [['cargo', 'test'], 'Cargo.toml'],
    [['cargo', 'test'], 'build.rs'],
    [['make', 'test'], 'rules.mk'],
    [['sh', '-c', 'npm ci && npm test'], 'jest.config.js'],
    [['./check.sh'], '.npmrc'],
    [['python3', '-m', 'pytest'], 'pytest.py'],
    [['python3', '-m', 'unittest'], 'unittest/__init__.py'],
    [['npx', 'jest'], '__mocks__/assert.js'],
    [['cargo', 'test'], 'build/main.rs'],
    [['anything'], '.env.test'],
    [['test', '-f', 'x'], '.husky/pre-commit'],
  ])('finds that %j is steered by %s', (command, path) => {
    expect(listFor(command, path)).toEqual([path]);
  });

  it.each<[readonly string[], string]>([
    [['npm', 'test'], 't.js'],
    [['npm', 'run', 'test'], 't.js'],
    [['npm', '--silent', 't'], 't.js'],
    [['sh', '-c', 'npm ci; npm test'], 't.js'],
    [['npm', 'test'], 'ci/before.sh'],
    [['yarn', 'check'], 't.js'],
  ])('follows the package scripts that %j runs to %s', (command, path) => {
    const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
    const packageScripts = { pretest: 'sh ./ci/before.sh', test: 'node t.js', check: 'npm run test && npm run check' };
    expect(listRewritten({ command }, { files: [file], scripts: [], packageScripts })).toEqual([path]);
  });

  it.each<[string, readonly string[]]>([
    ['lines.txt', ['test', '-s', 'lines.txt']],
    ['work.txt', ['sh', '-c', 'test "$(wc -l < work.txt)" -ge 2']],
    ['src/a.ts', ['npx', 'vitest']],
    ['other/check.sh', ['sh', 'check.sh']],
    ['tsconfig.json', ['pytest']],
    ['.npmrc', ['test', '-s', 'lines.txt']],
    ['Cargo.toml', ['npm', 'test']],
  ])('does not count %s as a file that %j runs', (path, command) => {
    expect(listFor(command, path)).toEqual([]);
  });

  it.each<[readonly string[], string, readonly string[]]>([
    [['sh', 'check.sh'], 'ci/steps.sh', ['check.sh', 'ci/steps.sh']],
    [['sh', 'check.sh'], 't.js', ['check.sh', 'ci/steps.sh']],
    [['make', 'test'], 't.js', ['GNUmakefile', 'makefile', 'Makefile', 'ci/steps.sh']],
  ])('follows the scripts that %j runs to %s', (command, path, followed) => {
    const repository: Readonly<Record<string, string>> = {
      'check.sh': 'set -e\n# node other.js\nbash ./ci/steps.sh \\\n  --all\n',
      'ci/steps.sh': 'cd .\n[ -f x ] && node t.js\n',
      Makefile: 'test: build\n\t@echo testing\n\t-sh ci/steps.sh\n',
    };
    const texts: Record<string, string> = {};
    for (let paths = listScripts({ command }, {}, texts); paths.length > 0; paths = listScripts({ command }, {}, texts))
      for (const each of paths) texts[each] = repository[each] ?? '';
    expect(Object.keys(texts)).toEqual(followed);
    const files = [path, 'other.js'].map(
      (each) => ({ kind: 'modified', path: each, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) }) as const,
    );
    expect(listRewritten({ command }, { files, scripts: [] }, texts)).toEqual([path]);
  });

  it('ends with scripts that call each other many times', () => {
    const texts = { 'a.sh': 'sh b.sh\n'.repeat(100), 'b.sh': 'sh a.sh; '.repeat(100) };
    expect(listScripts({ command: ['sh', 'a.sh'] }, {}, texts)).toEqual([]);
    const packageScripts = { test: 'npm run a && '.repeat(100), a: 'npm test; '.repeat(100) };
    expect(listRewritten({ command: ['npm', 'test'] }, { files: [], scripts: [], packageScripts })).toEqual([]);
  });
});
