import { describe, expect, it } from 'vitest';
import { measureProcessor } from '../../../test/processor-time.js';
import { findRewritten, listScripts } from './rewritten-checks.js';
import { listLoaded } from './steering-files.js';

/** Lists what a change to this one file rewrites in a check with this command. */
function listFor(command: readonly string[], path: string, scripts: readonly string[] = []): readonly string[] {
  const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
  return findRewritten({ command }, [file], { changedPackages: scripts }).files;
}

/** Reads the scripts that a command runs from a repository with these files. */
function follow(command: readonly string[], repository: Readonly<Record<string, string>>) {
  const texts: Record<string, string> = {};
  const listNext = () => listScripts({ command }, { texts }, Object.keys(repository));
  for (let paths = listNext(); paths.length > 0; paths = listNext())
    for (const path of paths) texts[path] = repository[path] ?? '';
  return texts;
}

/** Lists what a change to this one file rewrites in a check with this command, which can run scripts of the repository. */
function listChanged(command: readonly string[], path: string, repository: Readonly<Record<string, string>>) {
  const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
  const texts = follow(command, { [path]: '', ...repository });
  return findRewritten({ command }, [file], { texts }).files;
}

const sh = (line: string): readonly string[] => ['sh', '-c', line];

describe('findRewritten', () => {
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
    expect(findRewritten(check, [file]).files).toEqual(['setup.sh']);
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
    expect(findRewritten({ command }, [file], { packageScripts }).files).toEqual([path]);
  });

  it.each<[readonly string[], string, readonly string[]]>([
    [['sh', 'check.sh'], 'ci/steps.sh', ['check.sh', 'ci/steps.sh']],
    [['sh', 'check.sh'], 't.js', ['check.sh', 'ci/steps.sh']],
    [['make', 'test'], 't.js', ['Makefile', 'ci/steps.sh']],
    [['make', 'test'], 'ci/rules.inc', ['Makefile', 'ci/steps.sh']],
    [['make', '-C', 'sub', 'test'], 'sub/t.py', ['sub/Makefile']],
  ])('follows the scripts that %j runs to %s', (command, path, followed) => {
    const repository: Readonly<Record<string, string>> = {
      'check.sh': 'set -e\n# node other.js\nbash ./ci/steps.sh \\\n  --all\n',
      'ci/steps.sh': 'cd .\n[ -f x ] && node t.js\n',
      'sub/Makefile': 'test:\n\tpython3 t.py\n',
      Makefile: 'include ci/rules.inc\ntest: build\n\t@echo testing\n\t-sh ci/steps.sh\n',
    };
    const texts = follow(command, repository);
    expect(Object.keys(texts)).toEqual(expect.arrayContaining([...followed]));
    const files = [path, 'other.js'].map(
      (each) => ({ kind: 'modified', path: each, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) }) as const,
    );
    expect(findRewritten({ command }, files, { texts }).files).toEqual([path]);
  });

  it.each<[readonly string[], string, Readonly<Record<string, string>>?]>([
    [sh('cat t.js | node'), 't.js'],
    [sh('cat lib.js t.js|node -'), 't.js'],
    [sh('node < t.js'), 't.js'],
    [sh('node <t.js'), 't.js'],
    [sh('node - < t.js'), 't.js'],
    [sh('$(cat x)'), 'x'],
    [sh('`cat x`'), 'x'],
    [sh('sh -c "$(cat x)"'), 'x'],
    [sh('sh -c "`cat x`"'), 'x'],
    [sh('eval "$(cat env.txt)"; true'), 'env.txt'],
    [['bash', '-c', 'node <(cat t.js)'], 't.js'],
    [['bash', '-c', '. <(cat x)'], 'x'],
    [['bash', '-c', 'source /dev/stdin < x'], 'x'],
    [sh('(cat t.js) | node'), 't.js'],
    [sh('cat t.py | python3 -'), 't.py'],
    [sh('sed s/a/b/ t.py | python3'), 't.py'],
    [sh('node $(echo t.js)'), 't.js'],
    [sh('cat list | xargs node'), 'list'],
    [sh('xargs -a list node'), 'list'],
    [sh('T=t.js; node $T'), 't.js'],
    [sh('D=ci; node "$D/t.js"'), 'ci/t.js'],
    [sh('for f in ci/*; do sh $f || exit 1; done'), 'ci/a.check'],
    [sh('for f in *; do sh $f || exit 1; done'), 'a.check'],
    [sh('find ci -name "*.chk" -exec sh {} \\;'), 'ci/a.chk'],
    [sh('find . -name "*.chk" | xargs -n1 sh'), 'ci/a.chk'],
    [sh('ls ci | while read f; do node ci/$f; done'), 'ci/t.js'],
    [sh('while read f; do sh $f; done < list'), 'ci/one', { list: 'ci/one\nci/two\n' }],
    [['node', '-e', "require('./t.js')"], 't.js'],
    [['node', '--input-type=module', '-e', "await import('./t.mjs')"], 't.mjs'],
    [['python3', '-c', 'exec(open("t.py").read())'], 't.py'],
    [['python3', '-c', 'import checks.all'], 'checks/all.py'],
    [['perl', '-e', "do './t.pl'"], 't.pl'],
    [sh('NODE_OPTIONS=--require=./x.js node --test'), 'x.js'],
    [['env', 'NODE_OPTIONS=--require ./x.js', 'node', '--test'], 'x.js'],
    [sh('PATH=ci/bin:$PATH check'), 'ci/bin/check'],
    [sh('export PATH="$PWD/ci/bin:$PATH"; check'), 'ci/bin/check'],
    [sh('BASH_ENV=./x bash -c true'), 'x'],
    [['npx', 'mocha', 't.js'], 't.js'],
    [['npx', 'mocha', 'ci/*.js'], 'ci/t.js'],
    [['pytest', 'verify.py'], 'verify.py'],
    [['python3', '-m', 'pytest', 'verify.py::test_it'], 'verify.py'],
    [['python3', '-m', 'unittest', 'checks.all'], 'checks/all.py'],
    [['go', 'run', './ci/check.go'], 'ci/check.go'],
    [['vitest', 'run', 'verify.js'], 'verify.js'],
    [['jest', '--config', '{"setupFiles":["./x.js"]}'], 'x.js'],
    [['bash', '--rcfile', 'x', '-ic', 'true'], 'x'],
    [['awk', '-f', 'x.awk', 'out.txt'], 'x.awk'],
    [['sed', '-nf', 'x.sed', 'out.txt'], 'x.sed'],
    [['bc', 'x'], 'x'],
    [['./check'], 't.js', { check: '#!/bin/sh\nnode t.js\n' }],
    [['sh', 'check.txt'], 't.js', { 'check.txt': 'node t.js\n' }],
    [['sh', 'check.sh', 't.js'], 't.js', { 'check.sh': 'node "$1"\n' }],
    [['sh', '-c', 'node "$1"', 'sh', 't.js'], 't.js'],
    [['sh', 'ci/check.sh'], 'ci/lib.sh', { 'ci/check.sh': '. "$(dirname "$0")/lib.sh"\n' }],
    [['sh', 'ci/check.sh'], 'ci/t.js', { 'ci/check.sh': '. "$(dirname "$0")/lib"\n', 'ci/lib': 'cd ci; node t.js' }],
    [['sh', 'ci/check.sh'], 'ci/t.js', { 'ci/check.sh': 'cd "$(dirname "$0")"\nnode t.js\n' }],
    [sh('cat a.txt > b.sh; sh b.sh'), 'a.txt'],
    [sh('cat a.txt | tee b.sh; sh b.sh'), 'a.txt'],
    [['bash', '-c', 'node <<< "$(cat t.js)"'], 't.js'],
    [['sh', 'check.sh'], 't.js', { 'check.sh': "node <<'EOF'\nrequire('./t.js')\nEOF\n" }],
    [sh('exec 0<t.js; node'), 't.js'],
    [['make', '-C', 'sub', 'test'], 'sub/t.js', { 'sub/Makefile': 'test:\n\tcat t.js | node\n' }],
    [['make', '-Csub', 'test'], 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [['make', '--directory=sub', 'test'], 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [['env', 'CI=1', 'make', '-C', 'sub'], 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [
      ['make', 'test'],
      'sub/t.py',
      { Makefile: 'test:\n\t$(MAKE) -C sub test\n', 'sub/Makefile': 'test:\n\tpython3 t.py\n' },
    ],
    [
      ['make', 'test'],
      'sub/t.py',
      { Makefile: 'D = sub\ntest:\n\tmake -C $(D) test\n', 'sub/Makefile': 'test:\n\tpython3 t.py\n' },
    ],
    [
      ['make', 'test'],
      'sub/t.py',
      { Makefile: 'test:\n\tfor d in */; do make -C $$d; done\n', 'sub/Makefile': 'test:\n\tpython3 t.py\n' },
    ],
    [['make', '-f', 'rules', 'test'], 't.py', { rules: 'test:\n\tpython3 t.py\n' }],
    [['make', '-f', 'x.mk', 'test'], 't.py', { 'x.mk': 'test:\n\tpython3 t.py\n' }],
    [['make', 'test'], 't.py', { Makefile: 'T := t.py\ntest:\n\tpython3 $(T)\n' }],
    [['make', 'test'], 't.py', { Makefile: 'test: t.py\n\tpython3 $<\n' }],
    [['make', 'test'], 'a.check', { Makefile: 'test: a.ok\n%.ok: %.check\n\tsh $<\n' }],
    [['make', 'test'], 'x.sh', { Makefile: 'X := $(shell sh x.sh)\ntest:\n\ttrue\n' }],
    [['make', 'test'], 'x.sh', { Makefile: 'SHELL = ./x.sh\ntest:\n\ttrue\n' }],
    [['make', 'test'], 'ci/t.py', { Makefile: 'include ci/*.inc\n', 'ci/a.inc': 'test:\n\tpython3 ci/t.py\n' }],
    [['make', 'test'], 't.py', { Makefile: 'test: ; python3 t.py\n' }],
    [['timeout', '--signal', 'KILL', '30', 'node', 't.js'], 't.js'],
    [['npx', 'concurrently', 'true x', 'node t.js'], 't.js'],
    [['docker', 'run', '-v', '.:/x', 'node', 'node', '/x/t.js'], 't.js'],
    [sh('cd ci && cat t.js | node'), 'ci/t.js'],
    [sh('tar xf ci.tgz && sh /tmp/run'), 'ci.tgz'],
    [sh('cp a.txt /tmp/x; sh /tmp/x'), 'a.txt'],
    [['xargs', '-a', 'list', '-n1', 'sh'], 'ci/one', { list: 'ci/one\n' }],
    [sh('git show HEAD:t.js | node'), 't.js'],
    [sh('base64 -d t.b64 | sh'), 't.b64'],
    [sh('envsubst < x | sh'), 'x'],
    [sh('node t.js 2>&1 | grep -q ok'), 't.js'],
    [sh('sh -s < x'), 'x'],
    [sh('{ cat x; } | sh'), 'x'],
    [sh('coproc node t.js'), 't.js'],
    [['just', '-f', 'x', 'test'], 'x'],
    [['node', '--experimental-config-file', 'c.json', 't.js'], 't.js'],
    [
      ['sh', 'a.sh'],
      't.js',
      {
        'a.sh': 'sh b.sh',
        'b.sh': 'sh c.sh',
        'c.sh': 'sh d.sh',
        'd.sh': 'sh e.sh',
        'e.sh': 'sh f.sh',
        'f.sh': 'sh g.sh',
        'g.sh': 'node t.js',
      },
    ],
    [sh('tac t.js | tac | node'), 't.js'],
    [sh('node -r fs -e "$(cat t.js)"'), 't.js'],
    [sh('python3 -c "$(cat t.py)"'), 't.py'],
    [sh('awk "$(cat x.awk)" out'), 'x.awk'],
    [sh('sed -n "$(cat x.sed)" out'), 'x.sed'],
    [sh('awk -fx.awk out'), 'x.awk'],
    [sh('. ./env && npm test'), 'env'],
    [sh('set -a; . ./.check; npm test'), '.check'],
    [sh('source ci/env; $RUN'), 'ci/env'],
    [sh('read cmd < cmd.txt; sh -c "$cmd"'), 'cmd.txt'],
    [sh('mapfile -t a < list; "${a[@]}"'), 'list'],
    [sh('IFS=; while read -r l; do eval "$l"; done < cmds'), 'cmds'],
    [sh('xargs < args node'), 'args'],
    [sh('node $(cat args)'), 'args'],
    [sh('npm test $(cat flags)'), 'flags'],
    [sh('npx vitest $(cat flags)'), 'flags'],
    [sh('npx jest --config $(ls ci/*.json)'), 'ci/a.json'],
    [['bash', 'ci/run'], 't.js', { 'ci/run': 'main() {\n  node t.js\n}\nmain "$@"\n' }],
    [['bash', 'ci/run'], 'ci/a.test', { 'ci/run': 'for t in ci/*.test; do\n  "$t" || exit 1\ndone\n' }],
    [['bash', 'ci/run'], 'ci/a.test', { 'ci/run': 'run-parts ci\n' }],
    [
      ['bash', 'ci/run'],
      'ci/steps/a',
      { 'ci/run': 'DIR=$(cd "$(dirname "$0")" && pwd)\nfor s in "$DIR"/steps/*; do sh "$s"; done\n' },
    ],
    [
      ['bash', 'ci/run'],
      'ci/steps/a',
      { 'ci/run': 'cd "$(git rev-parse --show-toplevel)"\nls ci/steps | xargs -I{} sh ci/steps/{}\n' },
    ],
    [['bash', 'ci/run'], 'ci/t.py', { 'ci/run': 'python3 "${BASH_SOURCE%/*}/t.py"\n' }],
    [['bash', 'ci/run'], 'ci/t.py', { 'ci/run': 'case $1 in\n a) true;;\n *) python3 ci/t.py;;\nesac\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': '[ -f x ] || python3 t.py\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': 'if ! python3 t.py; then exit 1; fi\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': 'out=$(python3 t.py) || exit 1\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "trap 'python3 t.py' EXIT\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "alias t='python3 t.py'\nt\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "echo 'python3 t.py' | sh\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "cmd='python3 t.py'\n$cmd\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': 'CMD=(python3 t.py)\n"${CMD[@]}"\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': 'exec python3 t.py\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': 'timeout 60 \\\n  python3 \\\n  t.py\n' }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "ssh localhost 'cd x; python3 t.py'\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "su -c 'python3 t.py'\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "don't=1 # '\npython3 t.py\n" }],
    [['bash', 'ci/run'], 't.py', { 'ci/run': "cat <<E\nit's\nE\npython3 t.py\n" }],
    [['make'], 't.py', { Makefile: 'all: test\n.PHONY: test\ntest:\n\t@cd . && \\\n\tpython3 t.py\n' }],
    [['make'], 't.py', { Makefile: 'RUN = python3 t.py\ntest:\n\t$(RUN)\n' }],
    [['make'], 't.py', { Makefile: 'define run\npython3 t.py\nendef\ntest:\n\t$(run)\n' }],
    [
      ['make'],
      'ci/t.py',
      { Makefile: 'TESTS := $(wildcard ci/*.py)\ntest: $(TESTS)\n\tfor t in $^; do python3 $$t; done\n' },
    ],
    [
      ['make'],
      'ci/t.py',
      { Makefile: 'test: $(patsubst %.py,%.ok,$(wildcard ci/*.py))\n%.ok: %.py\n\tpython3 $< && touch $@\n' },
    ],
    [['make'], 't.py', { Makefile: '.RECIPEPREFIX = >\ntest:\n> python3 t.py\n' }],
    [['make'], 't.py', { Makefile: 'test:\n\t@./ci/go\n', 'ci/go': '#!/usr/bin/env bash\npython3 t.py\n' }],
    [['make', '-s', '-j4', '-C', 'sub', '-f', 'other'], 'sub/t.py', { 'sub/other': 'test:\n\tpython3 t.py\n' }],
    [['gmake', '-C', 'sub'], 'sub/t.py', { 'sub/makefile': 'test:\n\tpython3 t.py\n' }],
    [sh('cd sub && make test'), 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [sh('(cd sub; make test)'), 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [sh('make -C "$(pwd)/sub" test'), 'sub/t.py', { 'sub/Makefile': 'test:\n\tpython3 t.py\n' }],
    [sh('MAKEFILES=x.mk make'), 'x.mk', {}],
    [['ninja', '-f', 'x.ninja'], 'x.ninja'],
    [['npx', 'tap', 'ci/*.js'], 'ci/x.js'],
    [['npx', 'ava', 'verify.js'], 'verify.js'],
    [['npx', 'mocha', 'checks'], 'checks/a.js'],
    [['node', '--test', 'verify.js'], 'verify.js'],
    [['node', '--test', 'checks/'], 'checks/a.js'],
    [['deno', 'run', '-A', 't.ts'], 't.ts'],
    [['bun', 'run', 't.ts'], 't.ts'],
    [['npx', 'tsx', 't.ts'], 't.ts'],
    [['npx', 'ts-node', '--project', 'x.json', 't.ts'], 't.ts'],
    [['node', '--loader', 'ts-node/esm', 't.ts'], 't.ts'],
    [['node', '--conditions', 'dev', 't.js'], 't.js'],
    [['node', '--max-old-space-size=100', 't.js'], 't.js'],
    [['python3', '-W', 'error', 't.py'], 't.py'],
    [['python3', '-Im', 'checks'], 'checks/__main__.py'],
    [['python3', '-X', 'dev', '-m', 'checks.run'], 'checks/run.py'],
    [['uvx', 'pytest', 'verify.py'], 'verify.py'],
    [['poetry', 'run', 'check'], 'pyproject.toml'],
    [['ruby', '-Ilib', 't.rb'], 't.rb'],
    [['ruby', '-r', './x', '-e', 'run'], 'x.rb'],
    [['perl', '-Mlib=ci', 't.pl'], 't.pl'],
    [['php', '-f', 't.php'], 't.php'],
    [['prove', 't/a.t'], 't/a.t'],
    [['prove', '-e', 'sh', 'x'], 'x'],
    [['bats', 'x'], 'x'],
    [['expect', 'x.exp'], 'x.exp'],
    [['psql', '-f', 'x.sql'], 'x.sql'],
    [sh('sqlite3 a.db < x.sql'), 'x.sql'],
    [sh('git apply x.patch && npm test'), 'x.patch'],
    [sh('patch -p1 < x.patch && npm test'), 'x.patch'],
    [sh('tar -xf - < x.tar; ./run'), 'x.tar'],
    [sh('ln -s a.txt b; sh b'), 'a.txt'],
    [sh('cat a.txt >> b; . ./b'), 'a.txt'],
    [sh('sed s/x/y/ a.txt > /tmp/b; sh /tmp/b'), 'a.txt'],
    [sh('install -m755 a.txt run; ./run'), 'a.txt'],
    [sh('chmod +x a.txt; ./a.txt'), 'a.txt'],
    [['docker', 'build', '-f', 'x.dockerfile', '.'], 'x.dockerfile'],
    [['docker', 'compose', '-f', 'x.yml', 'run', 'test'], 'x.yml'],
    [['act', '-W', 'ci.yml'], 'ci.yml'],
    [['task', '-t', 'x.yml'], 'x.yml'],
    [['nox', '-f', 'x.py'], 'x.py'],
    [['tox', '-c', 'x'], 'x'],
    [['pre-commit', 'run', '-c', 'x'], 'x'],
    [['cargo', 'test', '--config', 'x.toml'], 'x.toml'],
    [['cmake', '-P', 'x'], 'x'],
    [['env', '-S', 'node t.js'], 't.js'],
    [['env', '-C', 'ci', 'node', 't.js'], 'ci/t.js'],
    [['watchexec', '--', 'node t.js'], 't.js'],
    [['time', '-p', 'sh', 't'], 't'],
    [['unbuffer', 'node', 't.js'], 't.js'],
    [['bash', '-c', 'exec node "$0"', 't.js'], 't.js'],
    [['bash', '-lc', 'node t.js'], 't.js'],
    [['bash', '-euo', 'pipefail', '-c', 'cat x | node'], 'x'],
    [['bash', '-o', 'errexit', 't'], 't'],
    [['busybox', 'sh', 't'], 't'],
    [['nix-shell', '--run', 'node t.js'], 't.js'],
    [['direnv', 'exec', '.', 'node', 't.js'], 't.js'],
  ])('counts every file that the code of %j can come from: %s', (command, path, repository = {}) => {
    expect(listChanged(command, path, repository)).toEqual([path]);
  });

  it.each<[readonly string[], string, Readonly<Record<string, string>>?]>([
    [['test', '-s', 'lines.txt'], 'lines.txt'],
    [sh('test "$(wc -l < work.txt)" -ge 2'), 'work.txt'],
    [['npx', 'vitest'], 'src/a.ts'],
    [['sh', 'check.sh'], 'other/check.sh'],
    [['node', 'verify.mjs', 'out.txt'], 'out.txt'],
    [['sh', '-e', 'verify.sh', 'out.txt'], 'out.txt'],
    [['npx', 'eslint', 'src/a.ts'], 'src/a.ts'],
    [['npx', 'tsc', '-p', 'src'], 'src/index.ts'],
    [sh('node t.js'), 'web/t.js'],
    [sh('cat out.txt | wc -l'), 'out.txt'],
    [sh('node verify.mjs < out.txt'), 'out.txt'],
    [['bash', '-c', 'diff <(sort out.txt) <(sort other.txt)'], 'out.txt'],
    [sh('grep -q x out.txt && npm test'), 'out.txt'],
    [sh('n=$(wc -l < out.txt); [ "$n" -gt 3 ]'), 'out.txt'],
    [sh('for f in a b; do test -s $f.txt || exit 1; done'), 'a.txt'],
    [['node', '-e', "process.exit(require('fs').readFileSync('out.txt','utf8')==='x'?0:1)"], 'out.txt'],
    [sh('sort out.txt > sorted; diff sorted expected'), 'out.txt'],
    [
      ['make', 'test'],
      'main.c',
      { Makefile: 'CC ?= gcc\ntest: main\n\t./main\nmain: main.c\n\t$(CC) -o main main.c\n' },
    ],
    [
      ['make', 'test'],
      'src/a.py',
      { Makefile: 'PYTHON ?= python3\ntest:\n\t$(PYTHON) -m pytest\nlint:\n\truff check src/a.py\n' },
    ],
    [
      ['sh', 'check.sh'],
      'src/a.ts',
      { 'check.sh': 'set -e\ncd "$(dirname "$0")"\nnpm ci\nnpx vitest run\ntest -s src/a.ts\n' },
    ],
    [['sh', 'check.sh'], 'a.txt', { 'check.sh': 'cat a.txt 2>&1 | grep -q x\n' }],
    [['node', '--test'], 'src/a.js'],
    [['cargo', 'test'], 'src/lib.rs'],
    [['go', 'test', './...'], 'a.go'],
    [['python3', '-m', 'pytest', 'tests'], 'src/a.py'],
    [['pytest'], 'tsconfig.json'],
    [['test', '-s', 'lines.txt'], '.npmrc'],
    [['npm', 'test'], 'Cargo.toml'],
  ])('does not count what %j only reads: %s', (command, path, repository = {}) => {
    expect(listChanged(command, path, repository)).toEqual([]);
  });

  it.each([
    '$(a)',
    '$(',
    '$((a)',
    '"$(x "$(y)")" ',
    '$a/x ',
    '"',
    "'",
    '`a` ',
    'node a ',
    'env node ',
    '<(',
    '=b a',
    '${',
    '[',
    '{',
    '*/',
    'x|',
    '\\\n',
    'A=$A ',
    'cd a;',
    "sh -c 'a b' ",
    'include a\n',
    '\ta: b; c\n',
    'sh x/../',
    ')',
    '\\',
  ])('reads a long script of %j in a bounded time', (unit) => {
    const text = unit.repeat(Math.floor(64_000 / unit.length));
    const texts = { check: text, Makefile: text };
    const command = ['sh', '-c', 'sh check; make'];
    const paths = Array.from({ length: 2000 }, (_, index) => `src/${index}`);
    expect(measureProcessor(() => void listScripts({ command }, { texts }, paths))).toBeLessThan(3000);
  });

  it('ends with scripts that call each other many times', () => {
    const texts = { 'a.sh': 'sh b.sh\n'.repeat(100), 'b.sh': 'sh a.sh; '.repeat(100) };
    expect(listScripts({ command: ['sh', 'a.sh'] }, { texts }, Object.keys(texts))).toEqual([]);
    const packageScripts = { test: 'npm run a && '.repeat(100), a: 'npm test; '.repeat(100) };
    expect(findRewritten({ command: ['npm', 'test'] }, [], { packageScripts }).files).toEqual([]);
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
        return measureProcessor(() => {
          for (const path of ['a.yml', 'a.js']) listLoaded(path, text);
        });
      };
      read(1000);
      expect(read(16_000)).toBeLessThan(2000);
    },
  );
});
