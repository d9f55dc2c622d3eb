import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readFile, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bundleProgram } from '../../../../test/bundle-program.js';
import type { ReadableFile } from '../../../base/index.js';
import { readChunks } from '../../../base/files/index.js';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openRunFolder } from '../open-run-folder.js';
import type { RunFolder } from '../open-run-folder.js';
import { replayRunFolder } from '../replay-run-folder.js';
import { rewriteRunLogs } from '../logs/run-logs.js';
import { openRun, getPackedRunPath } from '../run-place.js';
import { translateRunFolder } from '../translate-run-folder.js';
import { PACK_STEPS, packRunFolder, removePackedRun } from './pack-run-folder.js';

const RUN = '01KA3PACKED';

/** A data folder with one run: a small and a large stream, and files of its agent. */
async function makeData(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const run = {
    '.audit/meta.1.json': JSON.stringify({ run_id: RUN, engine: 'generic', started_at: '2026-01-01T00:00:00.000Z' }),
    '.audit/stdout.1.log': 'hello\n'.repeat(20),
    '.audit/stderr.1.log': '',
    'work_result.json': '{}',
    'notes/änderung.md': 'ä',
    ...files,
  };
  return makeRunFolder(Object.fromEntries(Object.entries(run).map(([name, text]) => [`runs/${RUN}/${name}`, text])));
}

/** Bytes that cannot be compressed. */
const LARGE = Buffer.concat(
  Array.from({ length: 50_000 }, (_, index) => createHash('sha256').update(String(index)).digest()),
);

const EMPTY_FILE: ReadableFile = {
  stat: async () => ({ size: 0 }),
  read: async () => ({ bytesRead: 0 }),
  close: async () => undefined,
};

async function readAll(folder: RunFolder): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for await (const listed of folder.files()) {
    const { path, size } = listed;
    const file = await listed.open();
    const chunks: Uint8Array[] = [];
    if (file !== undefined) for await (const chunk of readChunks(file)) chunks.push(chunk);
    await file?.close();
    const bytes = Buffer.concat(chunks);
    expect(bytes.length).toBe(size);
    contents[path] = createHash('sha256').update(bytes).digest('hex');
  }
  return contents;
}

describe('a packed run', () => {
  test('contains the files of its folder, in one file', async () => {
    const data = await makeData({ '.audit/stdout.2.log': LARGE });
    const before = await readAll(await openRun(data, RUN));
    expect(await packRunFolder(data, RUN)).toBe('packed');
    expect(await readdir(join(data, 'runs'))).toEqual([]);
    const inPacked = await readdir(join(data, 'packed'), { recursive: true, withFileTypes: true });
    expect(inPacked.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([`${RUN}.zip`]);
    const packed = await openRun(data, RUN);
    expect(packed.name).toBe(RUN);
    expect(await packed.attempts()).toEqual([1, 2]);
    expect(await packed.meta(1)).toMatchObject({ run_id: RUN, engine: 'generic' });
    expect(await readAll(packed)).toEqual(before);
    expect(await packRunFolder(data, RUN)).toBe('packed');
    expect(await packRunFolder(data, 'another')).toBe('missing');
    expect([await removePackedRun(data, RUN), await removePackedRun(data, RUN)]).toEqual([true, false]);
  });

  test('can be unpacked with an ordinary tool, and packed again with one', async () => {
    const data = await makeData({ '.audit/stdout.2.log': LARGE });
    const before = await readAll(await openRun(data, RUN));
    await packRunFolder(data, RUN);
    const targetFolder = await makeRunFolder({});
    const script = [
      'import sys, zipfile',
      'packed = zipfile.ZipFile(sys.argv[1])',
      'assert not packed.testzip()',
      'packed.extractall(sys.argv[2])',
      'again = zipfile.ZipFile(sys.argv[2] + "/again.zip", "w", zipfile.ZIP_DEFLATED)',
      'for name in packed.namelist(): again.write(sys.argv[2] + "/" + name, name)',
      'again.close()',
    ].join('\n');
    await promisify(execFile)('python3', ['-c', script, getPackedRunPath(data, RUN), targetFolder]);
    expect(await readAll(await openRunFolder(join(targetFolder, RUN)))).toEqual(before);
    expect(await readAll(await openRunFolder(join(targetFolder, 'again.zip')))).toEqual(before);
  });

  test('provides any range of a stream', async () => {
    const data = await makeData({ '.audit/stdout.2.log': LARGE });
    await packRunFolder(data, RUN);
    const folder = await openRun(data, RUN);
    const file = await folder.openAttempt('stdout', 2);
    const buffer = Buffer.alloc(100);
    expect(await file?.read(buffer, 10, 20, 1_200_000)).toEqual({ bytesRead: 20 });
    expect(buffer.subarray(10, 30)).toEqual(LARGE.subarray(1_200_000, 1_200_020));
    expect(await file?.read(buffer, 0, 100, LARGE.length - 5)).toEqual({ bytesRead: 5 });
    expect(await file?.read(buffer, 0, 100, LARGE.length)).toEqual({ bytesRead: 0 });
    await file?.close();
    expect(await folder.openAttempt('pty', 1)).toBeUndefined();
    expect(await folder.openWorkFile('notes')).toBeUndefined();
  });

  test('cannot be rewritten', async () => {
    const data = await makeData();
    await packRunFolder(data, RUN);
    const rewrite = rewriteRunLogs(getPackedRunPath(data, RUN));
    await expect(rewrite.next()).rejects.toMatchObject({ code: 'RUN_PACKED' });
  });

  test.each(['codex-two-attempts', 'claude-write'])(
    'of 0.1.0 (%s) is translated and replayed like its folder',
    async (name) => {
      const data = await makeRunFolder({});
      const folder = join(data, 'runs', name);
      await cp(new URL(`../fixtures/0.1.0/${name}`, import.meta.url), folder, { recursive: true });
      const list = async (): Promise<string[]> => {
        const events: string[] = [];
        for await (const emitted of translateRunFolder(await openRun(data, name))) events.push(JSON.stringify(emitted));
        return events;
      };
      const [events, replayed] = [await list(), await replayRunFolder(folder)];
      expect(events.length).toBeGreaterThan(0);
      await packRunFolder(data, name);
      expect(await list()).toEqual(events);
      expect(await replayRunFolder(getPackedRunPath(data, name))).toEqual(replayed);
    },
  );

  test('is compared with the captured digests', async () => {
    const data = await makeData();
    for await (const _ of rewriteRunLogs(join(data, 'runs', RUN)));
    await packRunFolder(data, RUN);
    const content = Buffer.from('hello\n'.repeat(20));
    const sha256 = createHash('sha256').update(content).digest('hex');
    const captured = { attempt: 1, stream: 'stdout', bytes: content.length, sha256 } as const;
    const path = getPackedRunPath(data, RUN);
    expect(await replayRunFolder(path, { captured: [captured] })).toMatchObject({ status: 'same', captured: 1 });
    expect(await replayRunFolder(path, { captured: [{ ...captured, sha256: '0'.repeat(64) }] })).toMatchObject({
      status: 'altered',
      altered: { file: 'stdout.1.log', found: { sha256 } },
    });
  });

  test.skipIf(process.platform === 'win32')('contains files with a backslash in their name', async () => {
    const data = await makeData({ 'notes\\today.md': 'x' });
    expect(await packRunFolder(data, RUN)).toBe('packed');
    expect(Object.keys(await readAll(await openRun(data, RUN)))).toContain('notes\\today.md');
  });

  test('skips extra files with a path that an unpacked run cannot have', async () => {
    const data = await makeData();
    const extraFiles = async function* list() {
      for (const path of ['.artifacts/a//b', '.artifacts/../b', '.artifacts/c'])
        yield { path, size: 0, mtimeMs: 0, open: async () => EMPTY_FILE };
    };
    expect(await packRunFolder(data, RUN, { extraFiles })).toBe('packed');
    const paths = Object.keys(await readAll(await openRun(data, RUN)));
    expect(paths.filter((path) => path.startsWith('.artifacts/'))).toEqual(['.artifacts/c']);
  });

  test('skips links and does not follow them', async () => {
    const otherFolder = await makeRunFolder({ secret: 'x' });
    const data = await makeData();
    await symlink(otherFolder, join(data, 'runs', RUN, 'linked'));
    await symlink(join(otherFolder, 'secret'), join(data, 'runs', RUN, 'file'));
    await packRunFolder(data, RUN);
    expect(Object.keys(await readAll(await openRun(data, RUN)))).not.toContain('file');
    expect(await readdir(otherFolder)).toEqual(['secret']);
  });
});

describe('packing', () => {
  let program: ReturnType<typeof bundleProgram> | undefined;

  test.each(PACK_STEPS)(
    'that is killed at step %s loses nothing, and the next call finishes it',
    { timeout: 60_000 },
    async (step) => {
      program ??= bundleProgram(new URL('../fixtures/pack-and-die.js', import.meta.url));
      const data = await makeData();
      const before = await readAll(await openRun(data, RUN));
      const child = (await program).start([data, RUN, step]);
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
      expect(await readAll(await openRun(data, RUN))).toEqual(before);
      expect(await packRunFolder(data, RUN)).toBe('packed');
      expect(await readdir(join(data, 'runs'))).toEqual([]);
      expect(await readAll(await openRun(data, RUN))).toEqual(before);
    },
  );

  test('by concurrent processes leaves one complete file', async () => {
    const data = await makeData({ '.audit/stdout.2.log': LARGE });
    const before = await readAll(await openRun(data, RUN));
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(async () => packRunFolder(data, RUN)));
    expect(outcomes.map(({ status }) => status)).toContain('fulfilled');
    expect(await packRunFolder(data, RUN)).toBe('packed');
    expect(await readAll(await openRun(data, RUN))).toEqual(before);
    expect(await readdir(join(data, 'packed', 'tmp'))).toEqual([]);
  });

  test('keeps the folder if the existing packed file cannot be read', async () => {
    const data = await makeData();
    const path = getPackedRunPath(data, RUN);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'not a zip file');
    await expect(packRunFolder(data, RUN)).rejects.toMatchObject({ code: 'PACKED_RUN_DAMAGED' });
    expect(await readdir(join(data, 'runs'))).toEqual([RUN]);
  });

  test('leaves a folder with too many files unchanged', { timeout: 30_000 }, async () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`tmp/${index}`, '']));
    const data = await makeData(many);
    expect(await packRunFolder(data, RUN)).toBe('too_large');
    expect(await readdir(join(data, 'runs'))).toEqual([RUN]);
  });
});

describe('a damaged packed run', () => {
  const damages: readonly (readonly [string, (path: string, bytes: Buffer) => Promise<void>])[] = [
    ['is refused if its end is missing', async (path, bytes) => truncate(path, bytes.length - 30)],
    ['is refused if its second half is missing', async (path, bytes) => truncate(path, bytes.length >> 1)],
    ['is refused if it is empty', async (path) => truncate(path, 0)],
    ['is refused if it is not a zip file', async (path) => writeFile(path, 'x'.repeat(50_000))],
    [
      'is refused if a byte of a file was changed',
      async (path, bytes) => {
        const at = bytes.indexOf('.audit/stdout.1.log') + '.audit/stdout.1.log'.length + 4;
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        await writeFile(path, bytes);
      },
    ],
    [
      'is refused if a name leads out of its folder',
      async (path, bytes) => {
        const name = Buffer.from('notes/änderung.md');
        Buffer.from('../../../../../../'.slice(0, name.length)).copy(bytes, bytes.lastIndexOf(name));
        await writeFile(path, bytes);
      },
    ],
  ];

  test.each(damages)('%s', async (_, damage) => {
    const data = await makeData();
    await packRunFolder(data, RUN);
    const path = getPackedRunPath(data, RUN);
    await damage(path, await readFile(path));
    const read = async (): Promise<unknown> => readAll(await openRun(data, RUN));
    await expect(read()).rejects.toMatchObject({ code: 'PACKED_RUN_DAMAGED', message: expect.stringContaining(path) });
  });
});
