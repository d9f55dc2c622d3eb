import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';

const MEGABYTE = 1024 * 1024;

it.each([
  ['text', `'x'.repeat(17 * 1024 * 1024)`],
  ['a record', `'{"type":"message","text":"' + 'x'.repeat(17 * 1024 * 1024)`],
  ['characters of two bytes', `'é'.repeat(9 * 1024 * 1024)`],
])('a run that is stopped at the limit of a line takes at most 100 MB: %s', async (_, line) => {
  const program = await bundleProgram(new URL('fixtures/measure-run.ts', import.meta.url));
  const command = [process.execPath, '-e', `process.stdout.write(${line})`];
  const started = program.start([await makeFolder({}), await makeFolder({}), ...command]);
  const measured = JSON.parse(await text(started.stdout)) as { code: string; bytes: number };
  expect(measured.code).toBe('RUN_LIMIT_EXCEEDED');
  expect(measured.bytes).toBeLessThan(100 * MEGABYTE);
});
