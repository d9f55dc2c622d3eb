import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findLocalTokenFile, openLocalToken, readLocalToken, rotateLocalToken } from './tokens.js';

let env: Record<string, string>;
beforeEach(async () => {
  env = { XDG_DATA_HOME: await makeFolder({}) };
});

describe("the user's token", () => {
  it('is generated once, with 43 characters, and readable by this user only', async () => {
    expect(await readLocalToken(env)).toBeUndefined();
    const { value, file } = await openLocalToken(env);
    expect(value).toMatch(/^[\w-]{43}$/);
    expect(file).toBe(findLocalTokenFile(env));
    expect((await stat(file ?? '')).mode & 0o777).toBe(0o600);
    expect(await openLocalToken(env)).toEqual({ value, file });
    expect(await readLocalToken(env)).toBe(value);
  });

  it('is the same for servers that start concurrently', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, async () => openLocalToken(env)));
    const stored = (await readFile(findLocalTokenFile(env), 'utf8')).trim();
    expect(new Set(tokens.map(({ value }) => value))).toEqual(new Set([stored]));
  });

  it.each([
    ['other users could read it', async (file: string) => chmod(file, 0o644)],
    ['it is too short', async (file: string) => writeFile(file, 'guess-me')],
  ])('is generated again if %s', async (_, damage) => {
    const { value, file } = await openLocalToken(env);
    await damage(file ?? '');
    expect(await readLocalToken(env)).toBeUndefined();
    const next = await openLocalToken(env);
    expect(next.value).not.toBe(value);
    expect((await stat(next.file ?? '')).mode & 0o777).toBe(0o600);
  });

  it('is not read through a link', async () => {
    const otherFolder = await makeFolder({ token: `${'a'.repeat(43)}\n` });
    await openLocalToken(env);
    const { file } = await rotateLocalToken(env);
    await rm(file ?? '');
    await symlink(join(otherFolder, 'token'), file ?? '');
    expect(await readLocalToken(env)).toBeUndefined();
  });

  it('is replaced on request', async () => {
    const { value } = await openLocalToken(env);
    const rotated = await rotateLocalToken(env);
    expect(rotated.value).not.toBe(value);
    expect(await readLocalToken(env)).toBe(rotated.value);
  });

  it('is valid for one process if it cannot be stored', async () => {
    const file = join(await makeFolder({ 'not-a-folder': '' }), 'not-a-folder');
    expect(await openLocalToken({ XDG_DATA_HOME: file })).toEqual({
      value: expect.stringMatching(/^[\w-]{43}$/),
      file: null,
    });
  });
});
