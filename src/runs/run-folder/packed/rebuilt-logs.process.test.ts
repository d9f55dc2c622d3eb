import { cp, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readSpan } from '../../../base/files/index.js';
import { ENGINE_NAMES } from '../../../events/index.js';
import { RUN_LOGS } from '../file-names.js';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { listFilesWithLogs, rewriteRunLogs } from '../logs/run-logs.js';
import type { RunFile } from '../run-files.js';
import { openRun } from '../run-place.js';
import { packRunFolder } from './pack-run-folder.js';

/** Reads the logs in a list of files, by path. */
async function readLogs(files: AsyncIterable<RunFile>): Promise<Record<string, string>> {
  const logs: Record<string, string> = {};
  for await (const listed of files) {
    const { path } = listed;
    if (!Object.values(RUN_LOGS).some((log) => path.endsWith(log))) continue;
    const file = await listed.open();
    if (file !== undefined) logs[path] = (await readSpan(file, 0, (await file.stat()).size)).toString();
    await file?.close();
  }
  return logs;
}

describe('a packed run has no logs, and an export rebuilds them byte for byte', () => {
  const engines = new URL('../../../events/engines/', import.meta.url);
  test.each(ENGINE_NAMES)('%s', async (engine) => {
    const recordings = await findRecordings(fileURLToPath(new URL(`${engine}/fixtures`, engines)));
    const data = await makeRunFolder({});
    for (const [number, recording] of recordings.entries()) {
      const run = `${engine}-${number}`;
      const dir = join(data, 'runs', run);
      await cp(recording, join(dir, '.audit'), { recursive: true });
      for await (const _ of rewriteRunLogs(dir));
      const written = await readLogs((await openRun(data, run)).files());
      expect(Object.keys(written)).toHaveLength(3);
      await packRunFolder(data, run);
      const packed = await openRun(data, run);
      expect(await readLogs(packed.files())).toEqual({});
      expect(await readLogs(listFilesWithLogs(packed))).toEqual(written);
    }
  });
});

async function findRecordings(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => basename(name) === 'meta.1.json').map((name) => join(folder, dirname(name)));
}

test('a run of an engine that is not built in keeps its logs when it is packed', async () => {
  const log = { 'runs/custom/.audit/events.jsonl': '{}\n', 'runs/custom/.audit/stdout.1.log': 'x\n' };
  const data = await makeRunFolder({ ...log, 'runs/custom/.audit/meta.1.json': '{"engine":"custom"}' });
  await packRunFolder(data, 'custom');
  expect(await readLogs((await openRun(data, 'custom')).files())).toEqual({ '.audit/events.jsonl': '{}\n' });
});
