import { appendFile, cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openWritableRunFolder } from '../open-run-folder.js';
import { replayRunFolder } from '../replay-run-folder.js';
import { translateRunFolder } from '../translate-run-folder.js';
import { openRunLogs } from './run-logs.js';

const RECORDED = fileURLToPath(new URL('../fixtures/codex-resumed', import.meta.url));

test('logs that grew event by event match a replay, even after a crash in between', async () => {
  const dir = await makeRunFolder({});
  await cp(RECORDED, dir, { recursive: true });
  const folder = await openWritableRunFolder(dir);
  let logs = await openRunLogs(folder);
  for await (const emitted of translateRunFolder(dir, { onDrift: (summary) => void logs.appendDrift(summary) })) {
    await logs.append([emitted]);
    if (emitted.event.seq !== 3) continue;
    await logs.close();
    await appendFile(folder.logPath('rasp'), '{"protocol_version":"ra');
    logs = await openRunLogs(folder);
  }
  await logs.close();
  expect(await replayRunFolder(dir)).toMatchObject({ status: 'same' });
});
