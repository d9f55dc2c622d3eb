import { mkdir, readFile, realpath, rename, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunFolderWarning } from './run-folder-error.js';
import { makeRunFolder } from '../../base/files/fixtures/make-run-folder.js';
import { listAuditFiles, removeRunFolder, readLastAttempt } from './audit-files.js';
import { createRunFolder, openRunFolder, openWritableRunFolder } from './open-run-folder.js';
import { packRunFolder } from './packed/pack-run-folder.js';
import { openRun, getRunFolderPath } from './run-place.js';

describe('openRunFolder', () => {
  test('finds the files in .audit, or in the folder itself', async () => {
    const outer = await makeRunFolder({ '.audit/stdout.1.log': '', 'stdout.7.log': '' });
    const inner = await makeRunFolder({ 'stderr.2.log': '', 'meta.1.json': '{}', 'notes.txt': '' });
    expect(await (await openRunFolder(outer)).attempts()).toEqual([1]);
    expect(await (await openRunFolder(inner)).attempts()).toEqual([1, 2]);
    expect((await openWritableRunFolder(inner)).logPath('diagnostics')).toBe(
      join(await realpath(inner), 'parser_diagnostics.jsonl'),
    );
  });

  test('finds files next to an empty .audit', async () => {
    const dir = await makeRunFolder({ '.audit/notes.txt': '', 'stdout.7.log': '' });
    expect(await (await openRunFolder(dir)).attempts()).toEqual([7]);
  });

  // Without a `/proc` file system, the folder cannot be created either.
  test('fails immediately if it cannot be created', async () => {
    await expect(createRunFolder('/proc/runs/r-1')).rejects.toThrow(/ENOENT|EACCES|EPERM|EROFS/);
  });

  test('is created for a new run, with a new .audit folder', async () => {
    const dir = join(await makeRunFolder({}), 'runs', 'r-1');
    const folder = await createRunFolder(dir);
    expect(folder.place).toBe(join(await realpath(dir), '.audit'));
    expect(await folder.attempts()).toEqual([]);
  });

  test('is named after the run folder, even when .audit itself is opened', async () => {
    const dir = await makeRunFolder({ '.audit/stdout.1.log': '' });
    expect((await openRunFolder(dir)).name).toBe(basename(dir));
    expect((await openRunFolder(join(dir, '.audit'))).name).toBe(basename(dir));
  });

  test('sorts attempts numerically', async () => {
    const dir = await makeRunFolder({ 'stdout.10.log': '', 'stdout.9.log': '', 'stdout.1.log': '' });
    expect(await (await openRunFolder(dir)).attempts()).toEqual([1, 9, 10]);
  });

  test('rejects a missing folder, and a file that is not a packed run, with a code', async () => {
    const dir = await makeRunFolder({ file: '' });
    await expect(openRunFolder(join(dir, 'none'))).rejects.toMatchObject({ code: 'RUN_FOLDER_NOT_FOUND' });
    await expect(openRunFolder(join(dir, 'file'))).rejects.toMatchObject({ code: 'PACKED_RUN_DAMAGED' });
    await expect(openWritableRunFolder(join(dir, 'file'))).rejects.toMatchObject({ code: 'PACKED_RUN_DAMAGED' });
  });

  test('does not follow an .audit that is a link', async () => {
    const otherFolder = await makeRunFolder({ 'stdout.1.log': 'secret' });
    const dir = await makeRunFolder({});
    await mkdir(join(dir, 'x'));
    await symlink(otherFolder, join(dir, '.audit'));
    await expect(openRunFolder(dir)).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  });

  test('reads no metadata from an invalid meta file, with a warning, or from a missing one', async () => {
    const warnings: RunFolderWarning[] = [];
    const folder = await openRunFolder(
      await makeRunFolder({ 'meta.1.json': '{"engine":', 'meta.2.json': '{"engine":"qwen"}' }),
    );
    const warn = (warning: RunFolderWarning): void => void warnings.push(warning);
    expect(await folder.meta(1, warn)).toEqual({});
    expect(await folder.meta(2, warn)).toEqual({ engine: 'qwen' });
    expect(await folder.meta(3, warn)).toEqual({});
    expect(warnings).toMatchObject([{ code: 'META_IGNORED', attempt: 1 }]);
  });
});

describe('a run folder in a data folder', () => {
  test.each(['runs', 'runs/one', 'runs/one/.audit'])(
    'is not read, written, packed or removed through a link at %s',
    async (level) => {
      const dir = await makeRunFolder({
        'data/runs/one/.audit/stdout.1.log': 'own',
        'elsewhere/runs/one/.audit/stdout.1.log': 'secret',
      });
      const [data, otherFolder] = [join(dir, 'data'), join(dir, 'elsewhere')];
      await rename(join(data, level), join(data, 'aside'));
      await symlink(join(otherFolder, level), join(data, level));
      await expect(openRun(data, 'one')).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
      const path = getRunFolderPath(data, 'one');
      await expect(createRunFolder(path, { trustedRoot: data })).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
      await expect(listAuditFiles(path, { trustedRoot: data })).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
      expect(await readLastAttempt(path, 10, { trustedRoot: data })).toMatchObject({ stdout: new Uint8Array() });
      await packRunFolder(data, 'one').catch(() => undefined);
      await removeRunFolder(data, 'one').catch(() => undefined);
      expect(await readFile(join(otherFolder, 'runs/one/.audit/stdout.1.log'), 'utf8')).toBe('secret');
      const packed = await openRun(data, 'one').catch(() => undefined);
      for await (const file of packed?.files() ?? []) expect(file.path).not.toContain('stdout');
    },
  );
});
