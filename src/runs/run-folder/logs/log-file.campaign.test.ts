import { once } from 'node:events';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { bundleProgram } from '../../../../test/bundle-program.js';
import type { RunFolderWarning } from '../run-folder-error.js';
import { lines, makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openLogFile, readLogFile } from './run-logs.js';

async function read(path: string): Promise<{ rows: object[]; warnings: string[] }> {
  const warnings: RunFolderWarning[] = [];
  const rows: object[] = [];
  for await (const row of readLogFile(path, (warning) => warnings.push(warning))) rows.push(row.value);
  return { rows, warnings: warnings.map((warning) => warning.message) };
}

describe('a log file', () => {
  test('contains the appended values, one per line, in the order of the calls', async () => {
    const path = join(await makeRunFolder({}), 'log');
    const log = await openLogFile(path);
    await Promise.all([
      log.append([{ seq: 1 }, { seq: 2, text: 'line\nbreak' }]),
      log.append([]),
      log.append([{ seq: 3 }]),
    ]);
    await log.close();
    expect(await readFile(path, 'utf8')).toBe('{"seq":1}\n{"seq":2,"text":"line\\nbreak"}\n{"seq":3}\n');
    expect(await read(path)).toEqual({ rows: [{ seq: 1 }, { seq: 2, text: 'line\nbreak' }, { seq: 3 }], warnings: [] });
  });

  test("appends to an earlier process's log", async () => {
    const path = join(await makeRunFolder({ log: lines({ seq: 1 }) }), 'log');
    const log = await openLogFile(path);
    await log.append([{ seq: 2 }]);
    await log.close();
    expect((await read(path)).rows).toEqual([{ seq: 1 }, { seq: 2 }]);
  });

  test.each([
    ['{"seq":1}\n{"seq":2,"te', 1],
    ['{"seq":1}\n{"seq":2}', 1],
    ['{"se', 0],
    [`{"seq":1}\n{"text":"${'x'.repeat(200_000)}`, 1],
  ])('never returns an incomplete last line, and removes it before the next is appended', async (content, expected) => {
    const path = join(await makeRunFolder({ log: content }), 'log');
    const before = await read(path);
    expect(before.rows).toHaveLength(expected);
    expect(before.warnings).toEqual([expect.stringContaining('unfinished line')]);
    const log = await openLogFile(path);
    await log.append([{ seq: 'next' }]);
    await log.close();
    const after = await read(path);
    expect(after.rows).toEqual([...before.rows, { seq: 'next' }]);
    expect(after.warnings).toEqual([]);
  });

  test('skips a damaged line with a warning', async () => {
    const path = join(await makeRunFolder({ log: '{"seq":1}\n\0\0\0\n[1]\n{"seq":2}\n' }), 'log');
    const { rows, warnings } = await read(path);
    expect(rows).toEqual([{ seq: 1 }, { seq: 2 }]);
    expect(warnings).toEqual([expect.stringContaining('Line 2 of '), expect.stringContaining('Line 3 of ')]);
  });

  test('has no rows if it is missing', async () => {
    expect(await read(join(await makeRunFolder({}), 'none'))).toEqual({ rows: [], warnings: [] });
  });

  test('returns no incomplete event after a process was killed while appending', { timeout: 60_000 }, async () => {
    const dir = await makeRunFolder({});
    const path = join(dir, 'log');
    const WAIT_OPTIONS = { timeout: 30_000, interval: 1 };
    const program = await bundleProgram(new URL('../fixtures/append-forever.js', import.meta.url));
    for (let round = 1; round <= 4; round += 1) {
      const ready = join(dir, `ready.${round}`);
      const child = program.start([path, ready]);
      const exited = once(child, 'exit');
      await vi.waitFor(async () => stat(ready), WAIT_OPTIONS);
      const { size } = await stat(path);
      const isLonger = async () => expect((await stat(path)).size).toBeGreaterThan(size + 1_000_000);
      await vi.waitFor(isLonger, WAIT_OPTIONS);
      child.kill('SIGKILL');
      expect(await exited).toEqual([null, 'SIGKILL']);
      // A kill between two lines leaves no incomplete line, so one is added here.
      await appendFile(path, '{"seq":1,"text":"xxx');
      const { rows } = await read(path);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toEqual({ seq: expect.any(Number), text: 'x'.repeat(200_000) });
    }
  });
});
