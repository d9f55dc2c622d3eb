import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createTranslator, fcmpSchema, raspSchema, type Emitted } from '../../../events/index.js';
import { makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { createRunFolder, openWritableRunFolder } from '../open-run-folder.js';
import { replayRunFolder } from '../replay-run-folder.js';
import { rewriteRunLogs, openEventTail, readRunEvents, openRunLogs } from './run-logs.js';

const LETTERS = 'a\nb\nc\n'.repeat(2000);

const ajv = new Ajv2020({ strict: true, strictRequired: false });
const isValid = { rasp: ajv.compile(raspSchema), fcmp: ajv.compile(fcmpSchema) };

async function readAll(dir: string, protocol: Emitted['protocol']): Promise<Emitted[]> {
  const all: Emitted[] = [];
  for await (const emitted of readRunEvents(await openWritableRunFolder(dir), protocol)) all.push(emitted);
  return all;
}

describe('logs with very many short lines', () => {
  it('are small, and every reader gets valid single events', async () => {
    const dir = await makeRunFolder({
      'meta.1.json': JSON.stringify({ run_id: 'r1', engine: 'generic', started_at: '2026-11-15T06:00:00.000Z' }),
      'stdout.1.log': LETTERS,
    });
    const events: Emitted[] = [];
    for await (const emitted of rewriteRunLogs(dir, { engine: 'generic' })) events.push(emitted);
    expect(await replayRunFolder(dir, { engine: 'generic' })).toMatchObject({ status: 'same' });
    for (const protocol of ['rasp', 'fcmp'] as const) {
      const folder = await openWritableRunFolder(dir);
      expect((await readFile(folder.logPath(protocol))).length).toBeLessThan(8 * LETTERS.length);
      const protocolEvents = events.filter((emitted) => emitted.protocol === protocol);
      expect(protocolEvents.length).toBeGreaterThan(6000);
      expect(protocolEvents.every(({ event }) => isValid[protocol](event))).toBe(true);
      expect(await readAll(dir, protocol)).toEqual(protocolEvents);
    }
  });

  it('are read while they grow', async () => {
    const dir = await makeRunFolder({});
    const folder = await createRunFolder(dir);
    const logs = await openRunLogs(folder);
    const translator = createTranslator({ engine: 'generic', runId: 'r1', attempt: 1, clock: () => 0 });
    const tail = openEventTail(async () => folder.openLog('fcmp'), 'fcmp');
    const seen: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await logs.append([...translator.push('stdout', new TextEncoder().encode('x\n'.repeat(turn === 2 ? 1 : 300)))]);
      for (let events = await tail.read(); events !== undefined; events = await tail.read())
        seen.push(...events.map(({ event }) => event.seq));
    }
    await tail.close();
    await logs.close();
    expect(seen).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1));
  });
});
