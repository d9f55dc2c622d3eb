import { createHash } from 'node:crypto';
import { appendFile, cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { makeRunFolder } from '../../base/files/fixtures/make-run-folder.js';
import { replayRunFolder } from './replay-run-folder.js';
import { rewriteRunLogs } from './logs/run-logs.js';

const RECORDED = fileURLToPath(new URL('./fixtures/codex-resumed', import.meta.url));

async function written(): Promise<string> {
  const dir = await makeRunFolder({});
  await cp(RECORDED, dir, { recursive: true });
  for await (const _ of rewriteRunLogs(dir));
  return dir;
}

async function editLine(path: string, number: number, edit: (line: string) => string): Promise<void> {
  const all = (await readFile(path, 'utf8')).split('\n');
  all[number - 1] = edit(all[number - 1] ?? '');
  await writeFile(path, all.join('\n'));
}

describe('replayRunFolder', () => {
  test('returns "same" if the logs match the bytes', async () => {
    const dir = await written();
    const rows = (await readFile(join(dir, 'fcmp.jsonl'), 'utf8')).split('\n').length - 1;
    expect(await replayRunFolder(dir)).toMatchObject({ status: 'same', compared: { fcmp: rows } });
  });

  test('compares only existing logs, and returns "nothing_stored" if none exist', async () => {
    const dir = await written();
    await rm(join(dir, 'events.jsonl'));
    await rm(join(dir, 'parser_diagnostics.jsonl'));
    expect(await replayRunFolder(dir)).toEqual({ status: 'same', compared: { fcmp: expect.any(Number) } });
    await rm(join(dir, 'fcmp.jsonl'));
    expect(await replayRunFolder(dir)).toEqual({ status: 'nothing_stored' });
  });

  test('rejects a folder without a run', async () => {
    await expect(replayRunFolder(await makeFolder({ 'notes.txt': 'x' }))).rejects.toThrow(
      expect.objectContaining({ code: 'RUN_FOLDER_EMPTY' }),
    );
  });

  test('returns "altered" if bytes differ from the captured digests, whatever the logs contain', async () => {
    const dir = await written();
    const bytes = await readFile(join(dir, 'stdout.1.log'));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const captured = [{ attempt: 1, stream: 'stdout', bytes: bytes.length, sha256 }] as const;
    expect(await replayRunFolder(dir, { captured })).toMatchObject({ status: 'same', captured: 1 });
    await editLine(join(dir, 'stdout.1.log'), 1, (line) => line.replace('thread', 'thrEad'));
    for await (const _ of rewriteRunLogs(dir));
    expect(await replayRunFolder(dir)).toMatchObject({ status: 'same' });
    expect(await replayRunFolder(dir, { captured })).toEqual({
      status: 'altered',
      altered: {
        file: 'stdout.1.log',
        captured: { bytes: bytes.length, sha256 },
        found: { bytes: bytes.length, sha256: expect.not.stringMatching(sha256) },
      },
    });
    await rm(join(dir, 'stdout.1.log'));
    expect(await replayRunFolder(dir, { captured })).toMatchObject({
      status: 'altered',
      altered: { found: undefined },
    });
  });

  test('returns "unfinished" if the last attempt has no end, and its logs match as far as they go', async () => {
    const dir = await written();
    const last =
      (await readdir(dir))
        .filter((name) => name.startsWith('meta.'))
        .toSorted()
        .at(-1) ?? '';
    const { finished_at, exit_code, signal, ...meta } = JSON.parse(await readFile(join(dir, last), 'utf8')) as Record<
      string,
      unknown
    >;
    expect([finished_at, exit_code, signal].some((field) => field !== undefined)).toBe(true);
    const rows = (await readFile(join(dir, 'fcmp.jsonl'), 'utf8')).split('\n');
    const kept = rows.length - 3;
    await writeFile(join(dir, 'fcmp.jsonl'), `${rows.slice(0, kept).join('\n')}\n`);
    expect(await replayRunFolder(dir)).toMatchObject({ status: 'different' });
    await rm(join(dir, 'events.jsonl'));
    await writeFile(join(dir, last), JSON.stringify(meta));
    const result = await replayRunFolder(dir);
    expect(result).toMatchObject({ status: 'unfinished', compared: { fcmp: kept } });
    await editLine(join(dir, 'fcmp.jsonl'), 2, (line) => line.replace('"seq":2', '"seq":99'));
    expect(await replayRunFolder(dir)).toMatchObject({ status: 'different' });
  });

  test('reports the first difference: log, row, path and both values', async () => {
    const dir = await written();
    await editLine(join(dir, 'fcmp.jsonl'), 2, (line) => line.replace('"seq":2', '"seq":99'));
    expect(await replayRunFolder(dir)).toEqual({
      status: 'different',
      difference: { log: 'fcmp.jsonl', row: 2, path: ['seq'], stored: 99, rebuilt: 2 },
    });
  });

  test('reports missing and additional rows', async () => {
    const dir = await written();
    await appendFile(join(dir, 'fcmp.jsonl'), '{"seq":1000}\n');
    expect(await replayRunFolder(dir)).toMatchObject({
      difference: { log: 'fcmp.jsonl', path: [], stored: { seq: 1000 } },
    });
    await writeFile(join(dir, 'fcmp.jsonl'), '');
    expect(await replayRunFolder(dir)).toMatchObject({
      status: 'different',
      difference: { log: 'fcmp.jsonl', row: 1, path: [], stored: undefined, rebuilt: { seq: 1 } },
    });
  });

  test('detects changed bytes', async () => {
    const dir = await written();
    await editLine(join(dir, 'stdout.1.log'), 3, (line) => line.replace('"text":"', '"text":"NOT '));
    const result = await replayRunFolder(dir);
    expect(result).toMatchObject({ status: 'different', difference: { log: 'events.jsonl' } });
  });

  test('ignores spaces and the order of keys', async () => {
    const dir = await written();
    await editLine(join(dir, 'fcmp.jsonl'), 1, (line) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as object).toReversed()), null, 1).replaceAll(
        '\n',
        '',
      ),
    );
    expect(await replayRunFolder(dir)).toMatchObject({ status: 'same' });
  });
});
