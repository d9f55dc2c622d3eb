import { appendFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { makeRunFolder } from '../fixtures/make-run-folder.js';
import { openWritableRunFolder } from '../open-run-folder.js';
import { openEventPages } from './event-pages.js';
import { LOG_START } from '../../../events/log-position.js';

const fcmp = (seq: number, text = '') => `${JSON.stringify({ seq, data: { text } })}\n`;
const numbers = (page: readonly { readonly event: { readonly seq: number } }[]) => page.map(({ event }) => event.seq);

async function openLog(lines: string, log: 'fcmp' | 'rasp' = 'fcmp') {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  const path = folder.logPath(log);
  await writeFile(path, lines);
  return { path, pages: openEventPages(folder, log) };
}

test('a log is read page by page, each event once', async () => {
  const { pages } = await openLog(Array.from({ length: 1000 }, (_, index) => fcmp(index + 1)).join(''));
  const read: number[] = [];
  for (;;) {
    const page = await pages.read({ after: { attempt: 0, seq: read.at(-1) ?? 0 }, limit: 77 });
    if (page.length === 0) break;
    read.push(...numbers(page));
  }
  expect(read).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
});

test('any page can be read, in any order', async () => {
  const { pages } = await openLog(Array.from({ length: 2000 }, (_, index) => fcmp(index + 1)).join(''));
  for (const seq of [1990, 3, 1025, 0, 1023, 256]) {
    const page = await pages.read({ after: { attempt: 0, seq }, limit: 3 });
    expect(numbers(page)).toEqual([seq + 1, seq + 2, seq + 3]);
  }
  const to = { attempt: 0, seq: 12 };
  expect(numbers(await pages.read({ after: { attempt: 0, seq: 10 }, to, limit: 9 }))).toEqual([11, 12]);
});

test('later events are found, an incomplete line is not', async () => {
  const { pages, path } = await openLog(`${fcmp(1)}{"seq":2`);
  const after = { attempt: 0, seq: 1 };
  expect(await pages.read({ after, limit: 9 })).toEqual([]);
  await appendFile(path, `}\n${fcmp(3)}garbage\n${fcmp(4)}`);
  expect(numbers(await pages.read({ after, limit: 9 }))).toEqual([2, 3, 4]);
});

test('a log that was rewritten is read from its start', async () => {
  const lines = (text: string) => Array.from({ length: 2000 }, (_, index) => fcmp(index + 1, text)).join('');
  const { pages, path } = await openLog(lines('a text'));
  const after = { attempt: 0, seq: 1500 };
  for (const log of [lines('a text'), lines(''), lines('a longer text'), fcmp(1501), lines('')]) {
    await writeFile(path, log);
    expect(numbers(await pages.read({ after, limit: 1 }))).toEqual([1501]);
  }
});

test('RASP is numbered by attempt', async () => {
  const rasp = (attempt: number, seq: number) => `${JSON.stringify({ attempt_number: attempt, seq })}\n`;
  const { pages } = await openLog([rasp(1, 1), rasp(1, 2), rasp(2, 1), rasp(2, 2)].join(''), 'rasp');
  const page = await pages.read({ after: { attempt: 1, seq: 2 }, limit: 9 });
  expect(page.map(({ event }) => event)).toMatchObject([
    { attempt_number: 2, seq: 1 },
    { attempt_number: 2, seq: 2 },
  ]);
});

test.each([
  ['fcmp', ['{"seq":"x"}', '{"seq":null}', '{"seq":1e999}', '{"seq":-1}', '{"seq":1.5}', '[{"seq":1}]', 'null']],
  ['rasp', ['{"seq":1}', '{"seq":1,"attempt_number":"1"}', '{"attempt_number":1}']],
] as const)('a forged line without a position is skipped (%s)', async (log, lines) => {
  const { pages } = await openLog(`${lines.join('\n')}\n`, log);
  expect(await pages.read({ after: LOG_START, limit: 9 })).toEqual([]);
});

test('a page of large events is short, and the next page has the next events', async () => {
  const { pages } = await openLog([1, 2, 3, 4, 5].map((seq) => fcmp(seq, 'x'.repeat(3_000_000))).join(''));
  expect(numbers(await pages.read({ after: LOG_START, limit: 100 }))).toEqual([1, 2]);
  expect(numbers(await pages.read({ after: { attempt: 0, seq: 2 }, limit: 100 }))).toEqual([3, 4]);
  expect(numbers(await pages.read({ after: { attempt: 0, seq: 4 }, limit: 100 }))).toEqual([5]);
});

test('a missing log has no events', async () => {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  expect(await openEventPages(folder, 'rasp').read({ after: LOG_START, limit: 1 })).toEqual([]);
});
