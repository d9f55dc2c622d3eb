import { chmod, link, lstat, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { compareSnapshots, takeSnapshot } from './track-changes.js';
import type { Snapshot } from './track-changes.js';

async function listChanges(
  files: Readonly<Record<string, string>>,
  change: (folder: string) => Promise<unknown>,
): Promise<ReturnType<typeof compareSnapshots>> {
  const folder = await makeFolder(files);
  const before = await takeSnapshot(folder);
  await change(folder);
  return compareSnapshots(before, await takeSnapshot(folder));
}

/**
 * Waits until a new file gets a later time than existing files, because file systems round times to a few milliseconds.
 */
async function waitForNextTime(folder: string): Promise<void> {
  const probe = `${folder}-probe`;
  const touch = async (): Promise<number> => {
    await writeFile(probe, '');
    return (await lstat(probe)).ctimeMs;
  };
  const first = await touch();
  await expect.poll(touch, { interval: 1 }).toBeGreaterThan(first);
  await rm(probe);
}

describe('the difference between two snapshots', () => {
  it('lists created, modified and deleted files, sorted, with forward slashes', async () => {
    const files = { 'keep.txt': 'k', 'change.txt': 'c', 'gone/a.txt': 'a', 'gone.txt': 'g' };
    const changes = await listChanges(files, async (folder) => {
      await writeFile(join(folder, 'change.txt'), 'changed');
      await rm(join(folder, 'gone'), { recursive: true });
      await rm(join(folder, 'gone.txt'));
      await mkdir(join(folder, 'new/deep'), { recursive: true });
      await writeFile(join(folder, 'new/deep/b.txt'), 'b');
      await writeFile(join(folder, 'new-file'), 'n');
    });
    expect(changes).toEqual({
      created: ['new-file', 'new/deep/b.txt'],
      modified: ['change.txt'],
      deleted: ['gone.txt', 'gone/a.txt'],
    });
  });

  it('is empty if nothing changed, even if the files were read', async () => {
    expect(await listChanges({ 'a.txt': 'a' }, async (folder) => lstat(join(folder, 'a.txt')))).toEqual({
      created: [],
      modified: [],
      deleted: [],
    });
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['written with the same content', async (path) => writeFile(path, 'same')],
    ['replaced by a file of the same size and time', replaceWithSameStats],
    ['written and its time set back', writeAndResetTime],
    ['made executable', async (path) => chmod(path, 0o755)],
  ])('lists a file as modified that was %s', async (_how, change) => {
    const { modified } = await listChanges({ 'a.txt': 'same' }, async (folder) => {
      await waitForNextTime(folder);
      await change(join(folder, 'a.txt'));
    });
    expect(modified).toEqual(['a.txt']);
  });

  it('skips .git, node_modules and .audit at any depth', async () => {
    const { created } = await listChanges({}, async (folder) => {
      for (const path of ['.git', 'a/node_modules', 'a/b/.audit', 'a/.github']) {
        await mkdir(join(folder, path), { recursive: true });
        await writeFile(join(folder, path, 'x'), 'x');
      }
    });
    expect(created).toEqual(['a/.github/x']);
  });

  it('lists links without following them', async () => {
    const outside = await makeFolder({ secret: 's' });
    const { created, modified } = await listChanges({ 'a.txt': 'a' }, async (folder) => {
      await symlink(outside, join(folder, 'folder-link'));
      await symlink('.', join(folder, 'circle'));
      await symlink('nowhere', join(folder, 'broken'));
      await writeFile(join(outside, 'other'), 'o');
    });
    expect({ created, modified }).toEqual({ created: ['broken', 'circle', 'folder-link'], modified: [] });
  });

  it('omits anything that is neither a file nor a link', async () => {
    const { created } = await listChanges({}, async (folder) => {
      const server = createServer();
      onTestFinished(() => void server.close());
      await new Promise<void>((resolve) => {
        server.listen(join(folder, 'socket'), resolve);
      });
    });
    expect(created).toEqual([]);
  });

  it('lists the files of a renamed folder', async () => {
    const changes = await listChanges({ 'a/x': 'x', 'a/y': 'y' }, async (folder) =>
      rename(join(folder, 'a'), join(folder, 'b')),
    );
    expect(changes).toEqual({ created: ['b/x', 'b/y'], modified: [], deleted: ['a/x', 'a/y'] });
  });
});

async function replaceWithSameStats(path: string): Promise<void> {
  const { atime, mtime } = await lstat(path);
  await writeFile(`${path}.new`, 'SAME');
  await utimes(`${path}.new`, atime, mtime);
  await rename(`${path}.new`, path);
}

async function writeAndResetTime(path: string): Promise<void> {
  const { atime, mtime } = await lstat(path);
  await writeFile(path, 'SAME');
  await utimes(path, atime, mtime);
}

describe('an incomplete snapshot', () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_value, index) => [`d${index % 3}/f${index}`, 'x']));

  it('is marked if there are too many files, or paths are too long', async () => {
    const folder = await makeFolder(files);
    expect((await takeSnapshot(folder)).truncated).toBe(false);
    expect(await takeSnapshot(folder, { maxFiles: 10 })).toMatchObject({ truncated: true, files: { size: 10 } });
    expect((await takeSnapshot(folder, { maxPathBytes: 20 })).truncated).toBe(true);
  });

  it('is marked if folders are too deep, and omits their content', async () => {
    const folder = await makeFolder({ 'a/b/c': 'x', 'a/d': 'y' });
    const shallow = await takeSnapshot(folder, { maxDepth: 2 });
    expect(shallow.truncated).toBe(true);
    expect([...shallow.files.keys()]).toEqual(['a/d']);
    const full = await takeSnapshot(folder);
    expect(compareSnapshots(shallow, full)).toEqual({ created: [], modified: [], deleted: [] });
    expect(compareSnapshots(full, shallow)).toEqual({ created: [], modified: [], deleted: [] });
  });

  it('is compared only as far as both walks went', async () => {
    const folder = await makeFolder(files);
    const before = await takeSnapshot(folder, { maxFiles: 15 });
    await rm(join(folder, 'd0/f0'));
    await writeFile(join(folder, 'd0/new'), 'n');
    await writeFile(join(folder, 'd2/new'), 'n');
    const after = await takeSnapshot(folder, { maxFiles: 12 });
    expect(compareSnapshots(before, after)).toEqual({ created: ['d0/new'], modified: [], deleted: ['d0/f0'] });
  });

  it('never reports a change that did not happen, wherever it was truncated', () => {
    const name = fc.constantFrom('a', 'a-b', 'a.b', 'b', 'b b', 'c');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const makeSnapshot = (paths: readonly string[], limit: number): Snapshot => {
      const walkedPaths = [...paths].sort((a, b) => (a.replaceAll('/', '\0') < b.replaceAll('/', '\0') ? -1 : 1));
      const keptPaths = walkedPaths.slice(0, limit);
      return {
        files: new Map(keptPaths.map((each) => [each, '1 1 1 1'])),
        truncatedAt: walkedPaths[limit],
        unreadable: new Set(),
        truncated: limit < walkedPaths.length,
      };
    };
    fc.assert(
      fc.property(
        fc.uniqueArray(path),
        fc.uniqueArray(path),
        fc.nat({ max: 12 }),
        fc.nat({ max: 12 }),
        (old, recent, m, n) => {
          const { created, deleted, modified } = compareSnapshots(makeSnapshot(old, m), makeSnapshot(recent, n));
          expect(created.filter((each) => old.includes(each) || !recent.includes(each))).toEqual([]);
          expect(deleted.filter((each) => recent.includes(each) || !old.includes(each))).toEqual([]);
          expect(modified).toEqual([]);
          const whole = compareSnapshots(makeSnapshot(old, 99), makeSnapshot(recent, 99));
          expect(whole.created).toEqual(recent.filter((each) => !old.includes(each)).sort());
          expect(whole.deleted).toEqual(old.filter((each) => !recent.includes(each)).sort());
        },
      ),
    );
  });

  it('is rejected for a missing folder', async () => {
    await expect(takeSnapshot('/no/such/folder')).rejects.toMatchObject({ code: 'WORKING_FOLDER_UNREADABLE' });
    const folder = await makeFolder({ file: '' });
    await expect(takeSnapshot(join(folder, 'file'))).rejects.toMatchObject({ code: 'WORKING_FOLDER_UNREADABLE' });
  });

  it('lists a file that got a second hard link', async () => {
    const { created } = await listChanges({ a: 'x' }, async (folder) => link(join(folder, 'a'), join(folder, 'b')));
    expect(created).toEqual(['b']);
  });
});
