import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createTranslator, fcmpSchema, getPosition, LOG_START, raspSchema } from '../../../events/index.js';
import type { Emitted, LogPosition } from '../../../events/index.js';
import { makeRunFolder } from '../fixtures/make-run-folder.js';
import { createRunFolder, openWritableRunFolder } from '../open-run-folder.js';
import { replayRunFolder } from '../replay-run-folder.js';
import { rewriteRunLogs } from '../rewrite-run-logs.js';
import { openEventPages } from './event-pages.js';
import { openRunLogs } from './run-logs.js';

const LETTERS = 'a\nb\nc\n'.repeat(2000);

const ajv = new Ajv2020({ strict: true, strictRequired: false });
const isValid = { rasp: ajv.compile(raspSchema), fcmp: ajv.compile(fcmpSchema) };

async function readAll(dir: string, protocol: Emitted['protocol'], limit: number): Promise<Emitted[]> {
  const pages = openEventPages(await openWritableRunFolder(dir), protocol);
  const all: Emitted[] = [];
  let after: LogPosition = LOG_START;
  for (;;) {
    const page = await pages.read({ after, limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    const last = page.at(-1);
    if (last === undefined) return all;
    after = getPosition(last);
    all.push(...page);
  }
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
      for (const limit of [97, 1000]) expect(await readAll(dir, protocol, limit)).toEqual(protocolEvents);
    }
  });

  it('are read while they grow, and from any position', async () => {
    const dir = await makeRunFolder({});
    const logs = await openRunLogs(await createRunFolder(dir));
    const translator = createTranslator({ engine: 'generic', runId: 'r1', attempt: 1, clock: () => 0 });
    const pages = openEventPages(await openWritableRunFolder(dir), 'fcmp');
    const seen: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await logs.append([...translator.push('stdout', new TextEncoder().encode('x\n'.repeat(turn === 2 ? 1 : 300)))]);
      for (;;) {
        const page = await pages.read({ after: { attempt: 0, seq: seen.at(-1) ?? 0 }, limit: 64 });
        if (page.length === 0) break;
        seen.push(...page.map(({ event }) => event.seq));
      }
    }
    await logs.close();
    expect(seen).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1));
    const page = await pages.read({ after: { attempt: 0, seq: 450 }, to: { attempt: 0, seq: 460 }, limit: 100 });
    expect(page.map(({ event }) => event.seq)).toEqual([451, 452, 453, 454, 455, 456, 457, 458, 459, 460]);
  });
});
