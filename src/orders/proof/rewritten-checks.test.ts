import { describe, expect, it } from 'vitest';
import { listRewritten, listScripts } from './rewritten-checks.js';
import { listLoaded } from './steering-files.js';

/** Lists what a change to this one file rewrites in a check with this command. */
function listFor(command: readonly string[], path: string, scripts: readonly string[] = []): readonly string[] {
  const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
  return listRewritten({ command }, [file], { changedPackages: scripts });
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
    [['node', '-r', './hooks.cjs', 't.js'], 'hooks.cjs'],
    [['node', '-r', './hooks.cjs', 't.js'], 't.js'],
    [['node', '--import=./hooks.mjs', '--test'], 'hooks.mjs'],
    [['node', '--test', '--test-reporter', './print.mjs'], 'print.mjs'],
    [['node', 'lib/run'], 'lib/run.js'],
    [['node', '.'], 'index.js'],
    [['node', 'ci/../t.js'], 't.js'],
    [['npx', 'vitest', '--config', 'ci/v.mts'], 'ci/v.mts'],
    [['npx', 'mocha', '--require=./boot.js'], 'boot.js'],
    [['npx', 'c8', 'node', 't.js'], 't.js'],
    [['uv', 'run', 'python', 't.py'], 't.py'],
    [['python3', '-m', 'coverage', 'run', 't.py'], 't.py'],
    [['python3', '-m', 'ci.run'], 'ci/run.py'],
    [['python3', '-m', 'ci'], 'ci/__main__.py'],
    [['pytest', '-c', 'ci.ini'], 'ci.ini'],
    [['make', '-f', 'build/rules', 'test'], 'build/rules'],
    [['sh', '-c', 'cd web && node t.js'], 'web/t.js'],
    [['npm', '--workspaces', 'exec', '--', 'node', 't.js'], 'packages/a/t.js'],
    [['pnpm', 'exec', 'node', 't.js'], 't.js'],
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
    expect(listRewritten(check, [file])).toEqual(['setup.sh']);
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
    [['npm', 'test'], '.gitattributes'],
    [['yarn', 'test'], '.pnp.cjs'],
    [['npx', 'react-scripts', 'test'], 'src/setupTests.ts'],
    [['npx', 'nx', 'test'], 'nx.json'],
    [['task'], 'Taskfile.dist.yaml'],
    [['cargo', 'nextest', 'run'], '.config/nextest.toml'],
    [['ctest'], 'CMakeLists.txt'],
    [['composer', 'test'], 'composer.json'],
    [['dotnet', 'test'], 'src/a.csproj'],
    [['./gradlew', 'test'], 'gradle/wrapper/gradle-wrapper.properties'],
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
    [['npm', '--prefix', 'web', 'test'], 'web/t.js'],
    [['npm', 'it'], 't.js'],
    [['npm', 'ci'], 'ci/after.js'],
    [['npx', 'run-s', 'check:*'], 'ci/all.js'],
    [['/opt/check'], 't.js'],
  ])('follows the package scripts that %j runs to %s', (command, path) => {
    const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
    const packageScripts = {
      pretest: 'sh ./ci/before.sh',
      test: 'node t.js',
      check: 'npm run test && npm run check',
      'check:all': 'node ci/all',
      postinstall: 'node ci/after.js',
    };
    expect(listRewritten({ command }, [file], { packageScripts })).toEqual([path]);
  });

  it.each<[string, readonly string[]]>([
    ['lines.txt', ['test', '-s', 'lines.txt']],
    ['work.txt', ['sh', '-c', 'test "$(wc -l < work.txt)" -ge 2']],
    ['src/a.ts', ['npx', 'vitest']],
    ['other/check.sh', ['sh', 'check.sh']],
    ['tsconfig.json', ['pytest']],
    ['.npmrc', ['test', '-s', 'lines.txt']],
    ['Cargo.toml', ['npm', 'test']],
    ['out.txt', ['node', 'verify.mjs', 'out.txt']],
    ['out.txt', ['sh', '-e', 'verify.sh', 'out.txt']],
    ['src/a.ts', ['npx', 'eslint', 'src/a.ts']],
    ['src/index.ts', ['npx', 'tsc', '-p', 'src']],
    ['web/t.js', ['sh', '-c', 'node t.js']],
  ])('does not count %s as a file that %j runs', (path, command) => {
    expect(listFor(command, path)).toEqual([]);
  });

  it.each<[readonly string[], string, readonly string[]]>([
    [['sh', 'check.sh'], 'ci/steps.sh', ['check.sh', 'ci/steps.sh']],
    [['sh', 'check.sh'], 't.js', ['check.sh', 'ci/steps.sh']],
    [['make', 'test'], 't.js', ['GNUmakefile', 'makefile', 'Makefile', 'ci/steps.sh']],
    [['make', 'test'], 'ci/rules.inc', ['GNUmakefile', 'makefile', 'Makefile', 'ci/steps.sh']],
    [['make', '-C', 'sub', 'test'], 'sub/t.py', ['sub/GNUmakefile', 'sub/makefile', 'sub/Makefile']],
  ])('follows the scripts that %j runs to %s', (command, path, followed) => {
    const repository: Readonly<Record<string, string>> = {
      'check.sh': 'set -e\n# node other.js\nbash ./ci/steps.sh \\\n  --all\n',
      'ci/steps.sh': 'cd .\n[ -f x ] && node t.js\n',
      'sub/Makefile': 'test:\n\tpython3 t.py\n',
      Makefile: 'include ci/rules.inc\ntest: build\n\t@echo testing\n\t-sh ci/steps.sh\n',
    };
    const texts: Record<string, string> = {};
    for (let paths = listScripts({ command }, { texts }); paths.length > 0; paths = listScripts({ command }, { texts }))
      for (const each of paths) texts[each] = repository[each] ?? '';
    expect(Object.keys(texts)).toEqual(expect.arrayContaining([...followed]));
    const files = [path, 'other.js'].map(
      (each) => ({ kind: 'modified', path: each, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) }) as const,
    );
    expect(listRewritten({ command }, files, { texts })).toEqual([path]);
  });

  it('ends with scripts that call each other many times', () => {
    const texts = { 'a.sh': 'sh b.sh\n'.repeat(100), 'b.sh': 'sh a.sh; '.repeat(100) };
    expect(listScripts({ command: ['sh', 'a.sh'] }, { texts })).toEqual([]);
    const packageScripts = { test: 'npm run a && '.repeat(100), a: 'npm test; '.repeat(100) };
    expect(listRewritten({ command: ['npm', 'test'] }, [], { packageScripts })).toEqual([]);
  });
});

describe('listLoaded', () => {
  it.each<[string, string, string]>([
    ['vitest.config.ts', "export default { test: { setupFiles: ['./src/a.ts', './src/setup.ts'] } }", 'src/setup.ts'],
    ['ci/jest.config.json', '{"globalSetup": "<rootDir>/boot"}', 'boot'],
    ['ci/jest.config.js', "const shared = require('./shared');", 'ci/shared'],
    ['vite.config.ts', "import { plugin } from './tools/plugin.js';", 'tools/plugin.js'],
    ['.mocharc.yml', 'recursive: true\nrequire: ./boot.js\n', 'boot.js'],
    ['.mocharc.yaml', 'require:\n  - ts-node/register\n  - ./boot.js\n', 'boot.js'],
    ['tsconfig.test.json', '{ "extends": "./ci/base.json" }', 'ci/base.json'],
    ['tests/conftest.py', 'pytest_plugins = ["tools.fixtures", "tools/more"]', 'tools/more'],
  ])('finds in %s the files of %j', (path, text, loaded) => {
    expect(listLoaded(path, text)).toContain(loaded);
  });

  it('finds no files of the product', () => {
    const text = "export default { build: { lib: { entry: 'src/index.ts' } }, test: { include: ['src/**'] } }";
    expect(listLoaded('vite.config.ts', text)).toEqual([]);
  });

  it.each(['a', ' ', '- ', "'", "''", '[', "key: 'a',", '\n', 'a:'])(
    'reads a long text of %j in linear time',
    (unit) => {
      const read = (length: number): number => {
        const text = unit.repeat(length);
        const startedAt = performance.now();
        for (const path of ['a.yml', 'a.js']) listLoaded(path, text);
        return performance.now() - startedAt;
      };
      read(1000);
      expect(read(16_000)).toBeLessThan(2000);
    },
  );
});
