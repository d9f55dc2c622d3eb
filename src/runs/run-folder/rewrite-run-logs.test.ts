import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeRunFolder } from '../../base/files/fixtures/make-run-folder.js';
import { rewriteRunLogs } from './logs/run-logs.js';
import { translateRunFolder } from './translate-run-folder.js';

const RECORDED = fileURLToPath(new URL('./fixtures/codex-resumed', import.meta.url));
const LOGS = ['events.jsonl', 'fcmp.jsonl', 'parser_diagnostics.jsonl'];

async function recorded(): Promise<string> {
  const dir = await makeRunFolder({});
  await cp(RECORDED, dir, { recursive: true });
  return dir;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

async function toRows(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));
}

test('the logs contain the yielded events, one log per protocol', async () => {
  const dir = await recorded();
  const handedOut = await collect(rewriteRunLogs(dir));
  expect(handedOut).toEqual(await collect(translateRunFolder(RECORDED)).then((all) => renamed(all, dir)));
  expect(await toRows(join(dir, 'events.jsonl'))).toEqual(
    handedOut.flatMap(({ protocol, event }) => (protocol === 'rasp' ? [event] : [])),
  );
  expect(await toRows(join(dir, 'fcmp.jsonl'))).toEqual(
    handedOut.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [event] : [])),
  );
});

/** The run is named after its folder. */
function renamed<T>(value: T, dir: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll('codex-resumed', dir.slice(dir.lastIndexOf('/') + 1))) as T;
}

test('diagnostics of every attempt are written to that log', async () => {
  const dir = await makeRunFolder({
    'stdout.1.log': 'not json\n',
    'meta.1.json': '{"engine":"codex","exit_code":0}',
    'stdout.2.log': 'not json\n{"type":"error","message":"out of credits"}\n',
    'meta.2.json': '{"engine":"codex","exit_code":0}',
  });
  const diagnostics = (await collect(rewriteRunLogs(dir))).flatMap(({ protocol, event }) =>
    protocol === 'rasp' && event.event.category === 'diagnostic' ? [event] : [],
  );
  expect(new Set(diagnostics.map(({ attempt_number }) => attempt_number))).toEqual(new Set([1, 2]));
  expect(diagnostics.map(({ event }) => event.type)).toContain('diagnostic.engine.error');
  expect(await toRows(join(dir, 'parser_diagnostics.jsonl'))).toEqual(diagnostics);
});

test('diagnostics are written to a separate log, and drift is counted at the end of an attempt', async () => {
  const dir = await makeRunFolder({
    'stdout.1.log': '{"type":"thread.sings"}\n{"type":"thread.sings"}\nnot json\n',
    'meta.1.json': '{"engine":"codex","version":"9.9.9","exit_code":0}',
  });
  await collect(rewriteRunLogs(dir));
  const rows = await toRows(join(dir, 'parser_diagnostics.jsonl'));
  expect(rows.length).toBeGreaterThan(2);
  expect(rows.at(-1)).toMatchObject({
    summary: 'drift',
    attempt_number: 1,
    engine: 'codex',
    unknown_types: { 'thread.sings': 2 },
  });
});

test('writes the same bytes when repeated', async () => {
  const dir = await recorded();
  await collect(rewriteRunLogs(dir));
  const first = await Promise.all(LOGS.map(async (log) => readFile(join(dir, log), 'utf8')));
  await collect(rewriteRunLogs(dir));
  expect(await Promise.all(LOGS.map(async (log) => readFile(join(dir, log), 'utf8')))).toEqual(first);
});

test('a consumer that stops early leaves the old logs unchanged, and nothing else', async () => {
  const dir = await recorded();
  await writeFile(join(dir, 'fcmp.jsonl'), 'old\n');
  for await (const emitted of rewriteRunLogs(dir)) if (emitted.event.seq === 2) break;
  expect(await readFile(join(dir, 'fcmp.jsonl'), 'utf8')).toBe('old\n');
  expect((await readdir(dir)).filter((name) => name.includes('tmp') || name === 'events.jsonl')).toEqual([]);
});

test('a folder without a run is rejected', async () => {
  await expect(collect(rewriteRunLogs(await makeRunFolder({})))).rejects.toMatchObject({
    code: 'RUN_FOLDER_EMPTY',
  });
});
