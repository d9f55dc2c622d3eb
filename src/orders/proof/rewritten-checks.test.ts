import { describe, expect, it } from 'vitest';
import { listRewritten } from './rewritten-checks.js';

/** Checks how a change of this file affects a check with this command. */
function look(command: readonly string[], path: string, scripts: readonly string[] = []): readonly string[] {
  const file = { kind: 'modified', path, oldMode: '100644', newMode: '100644', blob: 'a'.repeat(40) } as const;
  return listRewritten({ command }, { files: [file], scripts });
}

describe('a check that its change rewrites', () => {
  it.each<[readonly string[], string]>([
    [['./check.sh'], 'check.sh'],
    [['sh', 'check.sh'], 'check.sh'],
    [['bash', '-eu', './ci/check.sh', '--all'], 'ci/check.sh'],
    [['sh', '-c', 'cd . && bash ci/check.sh; true'], 'ci/check.sh'],
    [['sh', '-c', 'if ./check.sh; then true; fi'], 'check.sh'],
    [['env', 'CI=1', 'python3', 'run_checks.py'], 'run_checks.py'],
    [['make', 'test'], 'Makefile'],
    [['npx', 'vitest'], 'node_modules/.bin/vitest'],
    [['anything'], 'packages/a/node_modules/x/index.js'],
  ])('%j by %s', (command, path) => {
    expect(look(command, path)).toEqual([path]);
  });

  it('by changing the scripts of package.json, if a package manager runs them', () => {
    expect(look(['npm', 'test'], 'package.json', ['package.json'])).toEqual(['package.json']);
    expect(look(['sh', '-c', 'pnpm test'], 'package.json', ['package.json'])).toEqual(['package.json']);
    expect(look(['npm', 'test'], 'package.json')).toEqual([]);
    expect(look(['cargo', 'test'], 'package.json', ['package.json'])).toEqual([]);
  });

  it('by changing its preparation', () => {
    const file = { kind: 'added', path: 'setup.sh', oldMode: '000000', newMode: '100755', blob: 'a' } as const;
    const check = { command: ['true'], prepare: ['./setup.sh'] };
    expect(listRewritten(check, { files: [file], scripts: [] })).toEqual(['setup.sh']);
  });

  it.each<[readonly string[], string]>([
    [['test', '-s', 'lines.txt'], 'lines.txt'],
    [['sh', '-c', 'test "$(wc -l < work.txt)" -ge 2'], 'work.txt'],
    [['npx', 'vitest'], 'src/a.ts'],
    [['sh', 'check.sh'], 'other/check.sh'],
  ])('is not %j for %s', (command, path) => {
    expect(look(command, path)).toEqual([]);
  });
});
