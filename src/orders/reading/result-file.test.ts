import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readResultFile } from './result-file.js';

async function writeResult(): Promise<string> {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return join(await makeFolder({ 'work_result.json': '{}' }), 'work_result.json');
}

describe('a file that was just written', () => {
  it('is checked a second time, and rejected if it has grown', async () => {
    const path = await writeResult();
    const reading = readResultFile(path);
    while (vi.getTimerCount() === 0) await new Promise(setImmediate);
    await appendFile(path, ' ');
    await vi.advanceTimersByTimeAsync(100);
    expect(await reading).toMatchObject({ status: 'unreadable', problem: { code: 'RESULT_CHANGING' } });
  });

  it("is read immediately if all of its writer's processes have exited", async () => {
    expect(await readResultFile(await writeResult(), { hasEnded: true })).toMatchObject({ status: 'read' });
  });
});
