import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';

const MEGABYTE = 1024 * 1024;

/** Executes a run of a program whose output is this expression; returns its error code and the memory it took. */
async function measureRun(output: string, lineBytes: number): Promise<{ code: string | null; bytes: number }> {
  const program = await bundleProgram(new URL('fixtures/measure-run.ts', import.meta.url));
  const command = [process.execPath, '-e', `process.stdout.write(${output})`];
  const folders = [await makeFolder({}), await makeFolder({})];
  return JSON.parse(await text(program.start([String(lineBytes), ...folders, ...command]).stdout)) as {
    code: string | null;
    bytes: number;
  };
}

it.each([
  ['text', `'x'.repeat(17 * 1024 * 1024)`],
  ['a record', `'{"type":"message","text":"' + 'x'.repeat(17 * 1024 * 1024)`],
  ['characters of two bytes', `'é'.repeat(9 * 1024 * 1024)`],
])('a run that is stopped at the limit of a line takes at most 100 MB: %s', async (_, line) => {
  const { code, bytes } = await measureRun(line, 16 * MEGABYTE);
  expect(code).toBe('RUN_LIMIT_EXCEEDED');
  expect(bytes).toBeLessThan(100 * MEGABYTE);
});

it.each([
  ['stopped', 65, 'RUN_LIMIT_EXCEEDED'],
  ['not stopped', 63, null],
])('with a limit of 64 MB, a run takes at most three times as much as that: %s', async (_, megabytes, error) => {
  const { code, bytes } = await measureRun(`'x'.repeat(${megabytes} * 1024 * 1024)`, 64 * MEGABYTE);
  expect(code).toBe(error);
  expect(bytes).toBeLessThan(3 * 100 * MEGABYTE);
});
