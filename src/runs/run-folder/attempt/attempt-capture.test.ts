import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openWritableRunFolder } from '../open-run-folder.js';
import { openAttemptCapture, writeAttemptMeta, writeFsDiff, readFsDiff } from './attempt-capture.js';
import { readAttemptChunks } from './attempt-chunks.js';

test('captured output is read back with its order and times', async () => {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  const capture = await openAttemptCapture(folder, 1);
  const sent = [
    ['stdout', 'a', 1],
    ['stderr', 'b', 2],
    ['stdout', 'c', 2],
    ['pty', 'd', 9],
  ] as const;
  const chunks = sent.map(([stream, text, ms]) => ({ stream, bytes: Buffer.from(text), ms }));
  await Promise.all([capture.write(chunks.slice(0, 1)), capture.write([]), capture.write(chunks.slice(1))]);
  await capture.writeInput(Buffer.from('prompt'));
  await capture.close();

  const read: unknown[] = [];
  for await (const { stream, bytes, ms } of readAttemptChunks(folder, 1, () => undefined)) {
    read.push([stream, Buffer.from(bytes).toString(), ms]);
  }
  expect(read).toEqual(sent);
  expect(await readFile(join(folder.place, 'stdin.1.log'), 'utf8')).toBe('prompt');
});

test('input of a conversation is read in order, input passed at the start is not', async () => {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  for (const attempt of [1, 2]) {
    const capture = await openAttemptCapture(folder, attempt);
    if (attempt === 1) await capture.writeInput(Buffer.from('prompt'));
    await capture.write([{ stream: 'stdout', bytes: Buffer.from('a'), ms: 1 }]);
    if (attempt === 2) await capture.write([{ stream: 'stdin', bytes: Buffer.from('b'), ms: 2 }]);
    await capture.write([{ stream: 'stdout', bytes: Buffer.from('c'), ms: 3 }]);
    await capture.close();
  }
  const read = async (attempt: number) => {
    let text = '';
    for await (const { bytes } of readAttemptChunks(folder, attempt, () => undefined))
      text += Buffer.from(bytes).toString();
    return text;
  };
  expect([await read(1), await read(2)]).toEqual(['ac', 'abc']);
});

test('a reopened capture continues where the first one stopped', async () => {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  for (const text of ['ab', 'cd']) {
    const capture = await openAttemptCapture(folder, 1);
    await capture.write([{ stream: 'stdout', bytes: Buffer.from(text), ms: 1 }]);
    await capture.close();
  }
  expect(await readFile(folder.attemptPath('timing', 1), 'utf8')).toBe(
    '{"ms":1,"stream":"stdout","offset":0,"bytes":2}\n{"ms":1,"stream":"stdout","offset":2,"bytes":2}\n',
  );
});

test('meta and file differences are read back unchanged', async () => {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  const meta = { run_id: 'r', engine: 'codex', started_at: '2026-01-01T00:00:00.000Z', session_id: null } as const;
  await writeAttemptMeta(folder, 1, meta);
  expect(await folder.meta(1)).toEqual(meta);
  const diff = { created: ['a.md'], modified: [], deleted: [] };
  await writeFsDiff(folder, 1, diff);
  expect(await readFsDiff(folder, 1, () => undefined)).toEqual(diff);
});
