import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSessionFiles } from './session-files.js';
import type { StoredSession } from './session-files.js';

const createId = (number: number): string => String(number).padStart(26, '0');

const createSession = (number: number): StoredSession => ({
  version: 1,
  id: createId(number),
  engine: 'codex',
  cwd: '/work',
  permissions: 'safe',
  session_id: null,
  turns: 1,
  runs: [],
});

it('removes the oldest sessions, even if another process removes them concurrently', async () => {
  const data = await mkdtemp(join(tmpdir(), 'sluice-sessions-'));
  onTestFinished(async () => rm(data, { recursive: true }));
  const folder = join(data, 'acp-sessions');
  await mkdir(folder);
  for (let number = 0; number < 1100; number += 1) await writeFile(join(folder, `${createId(number)}.json`), '');
  const processes = [createSessionFiles(data), createSessionFiles(data)];
  await Promise.all(processes.map(async (files, index) => files.write(createSession(2000 + index))));
  expect(await readdir(folder)).toHaveLength(1000);
  expect(await processes[0]?.read(createId(2001))).toEqual(createSession(2001));
});
