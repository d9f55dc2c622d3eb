import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LAUNCHERS } from './launchers.js';
import type { Permissions } from './launcher.js';
import { refuseProjectPrograms } from './opencode.js';

/** Creates a parent folder with a working folder and files at the given paths. */
async function makeProject(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-opencode-'));
  onTestFinished(async () => rm(root, { recursive: true }));
  await mkdir(join(root, 'work'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return join(root, 'work');
}

describe('the working folder of opencode', () => {
  it.each([
    'work/.opencode/plugin/a.js',
    'work/.opencode/plugins/a.ts',
    'work/.opencode/tool/a.ts',
    '.opencode/plugin/a.js',
  ])('is rejected with %s', async (path) => {
    const workdir = await makeProject({ [path]: '' });
    await expect(refuseProjectPrograms(workdir)).rejects.toMatchObject({ code: 'FOLDER_NOT_TRUSTED' });
  });

  it.each([
    ['names a plugin', '{ "plugin": ["./evil.js"] }'],
    ['hides the key', String.raw`{ "plu\u0067in": ["./evil.js"] }`],
    ['is too long', ' '.repeat(2 * 1024 * 1024)],
  ])('is rejected with settings if one %s', async (_, text) => {
    for (const name of ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json']) {
      const workdir = await makeProject({ [`work/${name}`]: text });
      await expect(refuseProjectPrograms(workdir)).rejects.toThrow(name);
    }
  });

  it('is accepted with other settings, and without settings', async () => {
    const workdir = await makeProject({ 'work/opencode.json': '{ "model": "a/b" }', 'work/.opencode/agent/a.md': 'x' });
    await expect(refuseProjectPrograms(workdir)).resolves.toBeUndefined();
    await expect(refuseProjectPrograms(join(homedir(), 'nowhere'))).resolves.toBeUndefined();
  });

  it.each([
    ['safe', false],
    ['workspace', false],
    ['bypass', true],
  ] satisfies [Permissions, boolean][])('with loadable code, and %s: accepted %s', async (permissions, isAccepted) => {
    const workdir = await makeProject({ 'work/.opencode/plugin/a.js': '' });
    const inspection = LAUNCHERS.opencode.inspect?.({ prompt: 'x', workdir, runDir: '/run', permissions });
    const code = await Promise.resolve(inspection).then(
      () => undefined,
      (error: unknown) => (error as { code?: unknown }).code,
    );
    expect(code).toBe(isAccepted ? undefined : 'FOLDER_NOT_TRUSTED');
  });
});
