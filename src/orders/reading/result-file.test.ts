import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readResultFile } from './result-file.js';

const waits = vi.hoisted((): number[] => []);

vi.mock('timers/promises', () => ({
  setTimeout: async (milliseconds: number) => {
    waits.push(milliseconds);
  },
}));

it('looks a second time at a file that was just written, unless nothing of its writer runs any more', async () => {
  const path = join(await makeFolder({ 'work_result.json': '{}' }), 'work_result.json');
  expect(await readResultFile(path)).toMatchObject({ status: 'read' });
  expect(waits).toEqual([100]);
  expect(await readResultFile(path, { hasEnded: true })).toMatchObject({ status: 'read' });
  expect(waits).toEqual([100]);
});
