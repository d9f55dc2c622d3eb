import { appendFile, cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Emitted } from '../../../events/index.js';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openRunFolder, openWritableRunFolder } from '../open-run-folder.js';
import { rewriteRunLogs, openEventTail, readRunEvents } from './run-logs.js';

const fcmp = (seq: number, text = '') => `${JSON.stringify({ seq, data: { text } })}\n`;

async function openLog(lines: string, log: 'fcmp' | 'rasp' = 'fcmp') {
  const folder = await openWritableRunFolder(await makeRunFolder({}));
  const path = folder.logPath(log);
  await writeFile(path, lines);
  const tail = openEventTail(async () => folder.openLog(log), log);
  const readNumbers = async (): Promise<number[]> => {
    const numbers: number[] = [];
    for (let events = await tail.read(); events !== undefined; events = await tail.read())
      numbers.push(...events.map(({ event }) => event.seq));
    return numbers;
  };
  return { path, tail, readNumbers };
}

describe('openEventTail', () => {
  test('reads every event once', async () => {
    const { tail, readNumbers } = await openLog(Array.from({ length: 1000 }, (_, index) => fcmp(index + 1)).join(''));
    expect(await readNumbers()).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(await readNumbers()).toEqual([]);
    await tail.close();
  });

  test('finds later events, but no incomplete line', async () => {
    const { path, tail, readNumbers } = await openLog(`${fcmp(1)}{"seq":2`);
    expect(await readNumbers()).toEqual([1]);
    await appendFile(path, `}\n${fcmp(3)}garbage\n${fcmp(4)}`);
    expect(await readNumbers()).toEqual([2, 3, 4]);
    await tail.close();
  });

  test.each([
    ['fcmp', ['{"seq":"x"}', '{"seq":null}', '{"seq":1e999}', '{"seq":-1}', '{"seq":1.5}', '[{"seq":1}]', 'null']],
    ['rasp', ['{"seq":1}', '{"seq":1,"attempt_number":"1"}', '{"attempt_number":1}']],
  ] as const)('skips a forged line without a position (%s)', async (log, lines) => {
    const { tail, readNumbers } = await openLog(`${lines.join('\n')}\n`, log);
    expect(await readNumbers()).toEqual([]);
    await tail.close();
  });

  test('has no events if the log is missing', async () => {
    const folder = await openRunFolder(await makeRunFolder({}));
    const tail = openEventTail(async () => folder.openLog('rasp'), 'rasp');
    expect([await tail.read(), tail.exists]).toEqual([undefined, false]);
  });
});

async function collect(dir: string, protocol: Emitted['protocol']): Promise<string[]> {
  const lines: string[] = [];
  for await (const { event } of readRunEvents(await openRunFolder(dir), protocol)) lines.push(JSON.stringify(event));
  return lines;
}

const RECORDINGS = ['./fixtures/codex-resumed', './fixtures/0.2.0/claude-write'].map((path) =>
  fileURLToPath(new URL(`../${path}`, import.meta.url)),
);

describe('readRunEvents', () => {
  test.each(RECORDINGS)('yields the same bytes with and without logs: %s', async (recording) => {
    const dir = await makeRunFolder({});
    await cp(recording, dir, { recursive: true });
    for await (const _ of rewriteRunLogs(dir));
    const read = async () => ({ rasp: await collect(dir, 'rasp'), fcmp: await collect(dir, 'fcmp') });
    const logged = await read();
    expect(logged.rasp.length).toBeGreaterThan(5);
    for (const name of await readdir(dir))
      if (/^(?:events|fcmp|parser_diagnostics)\.jsonl$/u.test(name)) await rm(join(dir, name));
    expect(await read()).toEqual(logged);
  });

  test('yields nothing if the log is missing and the engine is unknown', async () => {
    const dir = await makeRunFolder({ 'meta.1.json': '{"engine":"custom"}', 'stdout.1.log': 'x\n' });
    expect(await collect(dir, 'fcmp')).toEqual([]);
  });
});
