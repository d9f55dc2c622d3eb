import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../base/index.js';
import type { WorkContext } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import type { FcmpEvent } from '../../events/index.js';
import type { EventQuery } from '../../store/ports/index.js';
import { AcpSessions } from './acp-sessions.js';
import type { SessionRequest } from './acp-sessions.js';
import { createSessionFiles } from './session-files.js';

const ID = '0'.repeat(26);

/** A store with two runs, each with one message per event. */
const EVENT_COUNTS: Readonly<Record<string, number>> = { 'run-a': 15_000, 'run-b': 10_000 };
const store = {
  findRun: async (id: string) => ({ id, spec: { prompt: `Prompt of ${id}` } }),
  read: async ({ runId, after = 0, to = Infinity, limit }: EventQuery) => {
    const last = Math.min(EVENT_COUNTS[runId] ?? 0, Number(to), Number(after) + limit);
    return Array.from({ length: Math.max(0, last - Number(after)) }, (_, index) => {
      const seq = Number(after) + index + 1;
      const data = { message_id: `m_1_${seq}`, text: `${runId} ${seq}` };
      const event = { type: 'assistant.message.final', seq, data, meta: { attempt: 1 } } as unknown as FcmpEvent;
      return { protocol: 'fcmp' as const, event };
    });
  },
};

async function createStoredSession() {
  const data = await mkdtemp(join(tmpdir(), 'sluice-acp-'));
  onTestFinished(async () => rm(data, { recursive: true }));
  await createSessionFiles(data).write({
    version: 1,
    id: ID,
    engine: 'codex',
    cwd: data,
    permissions: 'safe',
    session_id: null,
    turns: 2,
    runs: ['run-a', 'run-b'],
  });
  const context = { store, runs: { data }, logger: silentLogger } as unknown as WorkContext<Store>;
  const connect = (): AcpSessions => new AcpSessions(context, { engine: 'codex', permissions: 'safe' });
  const request: SessionRequest = { cwd: data, mcpServers: [] };
  return { sessions: connect(), request, connect };
}

it('replays the newest events of a long session, with their prompts', async () => {
  const { sessions, request } = await createStoredSession();
  await sessions.load(ID, request);
  const messages: string[] = [];
  for await (const update of sessions.replay(ID)) {
    if ('content' in update && 'text' in update.content) messages.push(update.content.text);
  }
  expect(messages).toHaveLength(20_002);
  expect(messages.slice(0, 2)).toEqual(['Prompt of run-a', 'run-a 5001']);
  expect(messages.slice(10_000, 10_003)).toEqual(['run-a 15000', 'Prompt of run-b', 'run-b 1']);
  expect(messages.at(-1)).toBe('run-b 10000');
});

it('opens a session once, even if it is loaded twice concurrently', async () => {
  const { sessions, request } = await createStoredSession();
  const [first, second] = await Promise.all([sessions.load(ID, request), sessions.load(ID, request)]);
  expect(second).toBe(first);
});

it('stores the session mode, which applies when the session is loaded again', async () => {
  const { sessions, request, connect } = await createStoredSession();
  await sessions.load(ID, request);
  await Promise.all(['workspace', 'safe', 'workspace'].map(async (mode) => sessions.setMode(ID, mode)));
  expect(await connect().load(ID, request)).toMatchObject({ permissions: 'workspace', turns: 2 });
});
