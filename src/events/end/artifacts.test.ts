import { describe, expect, it } from 'vitest';
import { codex, translateLines } from '../contract/translate-lines.contract.js';

function change(id: string, paths: readonly string[]) {
  const changes = paths.map((path) => ({ path, kind: 'add' }));
  return { type: 'item.completed', item: { id, type: 'file_change', changes, status: 'completed' } };
}

function listMadeBy(stdout: readonly object[], diff: { created?: string[]; modified?: string[]; deleted?: string[] }) {
  const fsDiff = { created: [], modified: [], deleted: [], ...diff };
  const { rasp, of } = translateLines({ stdout, end: { fsDiff } });
  const translated = [...rasp('artifact.created'), ...rasp('artifact.modified'), ...rasp('artifact.deleted')];
  return {
    makers: translated.map(({ path, made_by }) => [path, made_by?.tool_call_id ?? null]),
    fcmp: [...of('artifact.created'), ...of('artifact.modified'), ...of('artifact.deleted')],
  };
}

describe('artifacts', () => {
  it('name the file change that created them', () => {
    const { makers, fcmp } = listMadeBy([change('c1', ['/workspace/out/a.md'])], { created: ['out/a.md'] });
    expect(makers).toEqual([['out/a.md', 'c1']]);
    expect(fcmp).toEqual([{ path: 'out/a.md', made_by: { tool_call_id: 'c1', name: 'file_change' } }]);
  });

  it('name the command that mentioned them', () => {
    const stdout = [
      codex.command('completed', 'c1', "printf x > 'out/a.md'"),
      codex.command('completed', 'c2', 'cat out/a.md'),
    ];
    expect(listMadeBy(stdout, { created: ['out/a.md'] }).makers).toEqual([['out/a.md', 'c1']]);
  });

  it('prefer the call that names the file as its target', () => {
    const stdout = [codex.command('completed', 'c1', 'ls out/a.md'), change('c2', ['out/a.md'])];
    expect(listMadeBy(stdout, { created: ['out/a.md'] }).makers).toEqual([['out/a.md', 'c2']]);
  });

  it('name the first call for a new file and the last for a changed file', () => {
    const stdout = [change('c1', ['a', 'b']), change('c2', ['a', 'b'])];
    expect(listMadeBy(stdout, { created: ['a'], modified: ['b'] }).makers).toEqual([
      ['a', 'c1'],
      ['b', 'c2'],
    ]);
  });

  it('have no tool call if no call mentions them', () => {
    const stdout = [codex.command('completed', 'c1', 'touch data.md a.mdx')];
    expect(listMadeBy(stdout, { created: ['a.md'] }).makers).toEqual([['a.md', null]]);
  });

  it('include changed and deleted files', () => {
    const { makers, fcmp } = listMadeBy([], { modified: ['m'], deleted: ['d'] });
    expect(makers).toEqual([
      ['m', null],
      ['d', null],
    ]);
    expect(fcmp).toEqual([
      { path: 'm', made_by: null },
      { path: 'd', made_by: null },
    ]);
  });

  it("omit Sluice's files", () => {
    const created = ['.audit/stdout.1.log', 'sub/.audit/x', './ok.md', 'audit/kept'];
    expect(listMadeBy([], { created }).makers.map(([path]) => path)).toEqual(['ok.md', 'audit/kept']);
  });
});
