import { describe, expect, it } from 'vitest';
import { listRewritten } from './rewritten-checks.js';

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

  it.each<[string, readonly string[]]>([
    ['lines.txt', ['test', '-s', 'lines.txt']],
    ['work.txt', ['sh', '-c', 'test "$(wc -l < work.txt)" -ge 2']],
    ['src/a.ts', ['npx', 'vitest']],
    ['other/check.sh', ['sh', 'check.sh']],
  ])('does not count %s as a file that %j runs', (path, command) => {
    expect(listFor(command, path)).toEqual([]);
  });
});
