import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { chooseFolder, listFirstNames, listNames } from './list-names.js';

async function collect(folder: string, size: number): Promise<(readonly string[])[]> {
  const groups: (readonly string[])[] = [];
  for await (const names of listNames(folder, size, chooseFolder)) groups.push(names);
  return groups;
}

describe('listNames', () => {
  it('returns folders in groups, without files and links', async () => {
    const folder = await makeFolder({ 'a/x': '', 'b/x': '', 'c/x': '', file: '' });
    await symlink(join(folder, 'a'), join(folder, 'link'));
    const groups = await collect(folder, 2);
    expect(groups.map((names) => names.length)).toEqual([2, 1]);
    expect(groups.flat().toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('returns nothing for a missing folder, and throws for a file', async () => {
    const folder = await makeFolder({ file: '' });
    expect(await collect(join(folder, 'missing'), 2)).toEqual([]);
    await expect(collect(join(folder, 'file'), 2)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

describe('listFirstNames', () => {
  it('stops after the requested number of names', async () => {
    const folder = await makeFolder({ 'a/x': '', 'b/x': '', 'c/x': '' });
    expect(await listFirstNames(folder, 2, chooseFolder)).toHaveLength(2);
    expect(await listFirstNames(join(folder, 'missing'), 2, chooseFolder)).toEqual([]);
  });
});
