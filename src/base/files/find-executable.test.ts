import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findExecutable } from './find-executable.js';

describe('findExecutable', () => {
  it('finds the first executable file on PATH, and skips folders', async () => {
    const folder = await makeFolder({ 'a/tool': '', 'b/tool': '', 'c/tool/file': '' });
    await chmod(join(folder, 'a/tool'), 0o644);
    await chmod(join(folder, 'b/tool'), 0o755);
    const path = ['c', 'a', 'b'].map((name) => join(folder, name)).join(':');
    expect(await findExecutable('tool', { path, cwd: '/' })).toBe(join(folder, 'b/tool'));
    expect(await findExecutable('other', { path, cwd: '/' })).toBeUndefined();
  });

  it('resolves a path relative to the working folder', async () => {
    const folder = await makeFolder({ 'bin/tool': '' });
    await chmod(join(folder, 'bin/tool'), 0o755);
    expect(await findExecutable('./bin/tool', { path: '', cwd: folder })).toBe(join(folder, 'bin/tool'));
    expect(await findExecutable(join(folder, 'bin/tool'), { path: '', cwd: '/' })).toBe(join(folder, 'bin/tool'));
  });
});
