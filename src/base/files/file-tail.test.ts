import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRunFolder } from './fixtures/make-run-folder.js';
import { openLineTail } from './file-tail.js';

test('openLineTail returns complete lines while the file grows', async () => {
  const dir = await makeRunFolder({});
  const path = join(dir, 'log');
  const tail = openLineTail(path, 100);
  expect(await tail.next()).toBeUndefined();
  await appendFile(path, 'one\ntw');
  expect(await tail.next()).toEqual({ number: 1, text: 'one' });
  expect(await tail.next()).toBeUndefined();
  expect(tail.unfinishedBytes()).toBe(2);
  await appendFile(path, 'o\n\n');
  expect(await tail.next()).toEqual({ number: 2, text: 'two' });
  expect(await tail.next()).toEqual({ number: 3, text: '' });
  expect(await tail.next()).toBeUndefined();
  expect(tail.unfinishedBytes()).toBe(0);
  await tail.close();
});

test('openLineTail joins a character that is split between two reads', async () => {
  const dir = await makeRunFolder({});
  const path = join(dir, 'log');
  const tail = openLineTail(path, 100);
  const bytes = Buffer.from('汉\n');
  await appendFile(path, bytes.subarray(0, 2));
  expect(await tail.next()).toBeUndefined();
  await appendFile(path, bytes.subarray(2));
  expect(await tail.next()).toMatchObject({ text: '汉' });
  await tail.close();
});

test('openLineTail drops a line over the limit and continues with the next', async () => {
  const dir = await makeRunFolder({ log: `${'x'.repeat(11)}\n${'y'.repeat(10)}\n` });
  const tail = openLineTail(join(dir, 'log'), 10);
  expect(await tail.next()).toEqual({ number: 1, text: undefined });
  expect(await tail.next()).toEqual({ number: 2, text: 'y'.repeat(10) });
  await tail.close();
});
