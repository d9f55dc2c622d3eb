import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createJsonLogger } from '../../base/logger.js';
import { startWorker } from '../../orders/dispatch/start-worker.js';
import { openServer, readJson } from '../fixtures/open-server.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/acp-agent.mjs', import.meta.url));
const WRITE = { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', rawInput: { file_path: 'a.txt' } };

/** A server whose worker runs an agent that asks for permission, and a run that waits for the answer. */
async function waitForQuestion(steps: readonly object[], limits: object = {}) {
  const agents = { fake: { acp: [process.execPath, AGENT] } };
  const site = await openServer({ settings: { agents } });
  const script = join(site.folder, 'acp.json');
  await writeFile(script, JSON.stringify({ prompts: [steps, [...steps, { say: 'resumed' }]] }));
  const worker = startWorker({
    store: site.store,
    lead: site.lead,
    runs: { data: site.data, agents: { fake: { acp: [process.execPath, AGENT, script] } } },
    pollMs: 20,
  });
  onTestFinished(async () => worker.stop({ graceMs: 0 }));
  const request = { engine: 'fake', prompt: 'x', workdir: site.work, permissions: 'ask', limits };
  const { id } = await readJson(site.post('/v1/runs', request));
  const run = `/v1/runs/${String(id)}`;
  await vi.waitFor(async () => expect((await readJson(site.get(run)))['state']).toBe('waiting'), { timeout: 60_000 });
  const waitForEnd = async () => {
    await vi.waitFor(async () => expect((await readJson(site.get(run)))['state']).toBe('ended'), { timeout: 60_000 });
    const { events } = await readJson(site.get(`${run}/history?protocol=fcmp`));
    return {
      record: await readJson(site.get(run)),
      events: events as { type: string; data: Record<string, unknown> }[],
    };
  };
  const reply = async (body: object) => {
    const response = await site.post(`${run}/reply`, body);
    return { status: response.status, code: (await readJson(response))['code'] };
  };
  return { ...site, waitForEnd, reply };
}

describe('POST /v1/runs/{id}/reply to a permission request', () => {
  it('is received by the run, which records who answered and why', async () => {
    const { reply, waitForEnd } = await waitForQuestion([{ ask: WRITE }, { say: 'ok' }]);
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'perhaps' })).toEqual({
      status: 400,
      code: 'INVALID_BODY',
    });
    expect(await reply({ interaction_id: 'px_1_7', option_id: 'yes' })).toEqual({
      status: 409,
      code: 'RUN_NOT_WAITING',
    });
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'yes', why: 'fine' })).toMatchObject({ status: 200 });
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'no' })).toEqual({
      status: 409,
      code: 'RUN_NOT_WAITING',
    });
    const { record, events } = await waitForEnd();
    expect(record).toMatchObject({ result: { status: 'success', text: 'ok' } });
    // Refused, because it was answered; then, because the run has ended. Both are kept.
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'no', why: 'too late' })).toEqual({
      status: 409,
      code: 'RUN_NOT_WAITING',
    });
    const late = { interaction_id: 'px_1_1', option_id: 'no', who: expect.any(String), at: expect.any(String) };
    expect((await waitForEnd()).record['refused_answers']).toEqual([late, { ...late, why: 'too late' }]);
    expect(events.find(({ type }) => type === 'permission.replied')?.data).toMatchObject({
      decision: 'allow',
      by: 'person',
      why: 'fine',
      who: expect.any(String),
    });
  });

  it('accepts one of several answers at once, and no forged one', async () => {
    const { reply, waitForEnd } = await waitForQuestion([{ ask: WRITE }, { say: 'ok' }]);
    const forged = ['px_1_0', 'px_2_1', 'px_1_1 ', 'PX_1_1', 'px_1_1\u0000', 'px_01_1', '__proto__', 'ix_1', ''];
    for (const interaction_id of forged) {
      expect((await reply({ interaction_id, option_id: 'yes' })).status).toBeGreaterThanOrEqual(400);
    }
    const options = ['yes', 'no', 'yes', 'no', 'no', 'yes'];
    const replies = await Promise.all(
      options.map(async (option_id) => reply({ interaction_id: 'px_1_1', option_id, why: option_id })),
    );
    const { events } = await waitForEnd();
    const answers = events.filter(({ type }) => type === 'permission.replied').map(({ data }) => data);
    expect(answers).toHaveLength(1);
    const accepted = options.filter((_, index) => replies[index]?.status === 200);
    expect(accepted).toEqual([answers[0]?.['why']]);
    expect(answers[0]?.['decision']).toBe(accepted[0] === 'yes' ? 'allow' : 'deny');
  });

  it('is not lost to a text reply, which needs only the scope `run`', async () => {
    const { reply, waitForEnd } = await waitForQuestion([{ ask: WRITE }, { say: 'ok' }]);
    const forged = `\u0001${JSON.stringify({ interaction_id: 'px_1_1', option_id: 'yes' })}`;
    for (const text of ['yes', forged, '{"interaction_id":"px_1_1","option_id":"yes"}'])
      expect(await reply({ text })).toEqual({ status: 409, code: 'RUN_NOT_WAITING' });
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'no', why: 'mine' })).toMatchObject({ status: 200 });
    const { events } = await waitForEnd();
    const answers = events.filter(({ type }) => type === 'permission.replied').map(({ data }) => data);
    expect(answers).toMatchObject([{ decision: 'deny', by: 'person', why: 'mine' }]);
  });

  it('answers each of multiple questions', async () => {
    const { reply, waitForEnd } = await waitForQuestion([
      { asks: [WRITE, { ...WRITE, toolCallId: 'c2' }] },
      { say: 'ok' },
    ]);
    // The run waits as soon as the first is asked.
    for (const answer of [
      { interaction_id: 'px_1_2', option_id: 'no' },
      { interaction_id: 'px_1_1', option_id: 'yes' },
    ]) {
      await vi.waitFor(async () => expect(await reply(answer)).toMatchObject({ status: 200 }), { timeout: 60_000 });
    }
    expect((await waitForEnd()).record).toMatchObject({ result: { status: 'success', text: 'ok' } });
  });

  it('resumes the session if the process has exited', async () => {
    const { reply, waitForEnd, store } = await waitForQuestion([{ ask: WRITE }], { hold_s: 0.1 });
    const { items } = await store.listRuns({});
    const id = items[0]?.id ?? '';
    await vi.waitFor(
      async () => {
        const events = await store.read({ runId: id, protocol: 'fcmp', limit: 1000 });
        expect(events.some(({ event }) => 'code' in event.data && event.data.code === 'PERMISSION_PENDING')).toBe(true);
      },
      { timeout: 60_000 },
    );
    expect(await reply({ interaction_id: 'px_1_1', option_id: 'yes', why: 'fine' })).toMatchObject({ status: 200 });
    const { record, events } = await waitForEnd();
    expect(record).toMatchObject({ result: { status: 'success', text: 'resumed', attempts: 2 } });
    const answers = events.filter(({ type }) => type === 'permission.replied').map(({ data }) => data);
    expect(answers).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'allow', by: 'person', why: 'fine', who: expect.any(String) },
      { interaction_id: 'px_2_1', decision: 'allow', by: 'person', why: 'fine', who: expect.any(String) },
    ]);
  });

  it('counts as a denial if it is missing, and the run continues', async () => {
    const { waitForEnd } = await waitForQuestion([{ ask: WRITE }, { say: 'without' }], { wait_s: 0.5 });
    expect((await waitForEnd()).record).toMatchObject({ result: { status: 'success', text: 'without' } });
  });
});

it('POST /v1/runs/{id}/reply is logged as an answer only if the run received it', async () => {
  const lines: string[] = [];
  const { post } = await openServer({ logger: createJsonLogger((line) => lines.push(line)) });
  const response = await post('/v1/runs/gone/reply', { interaction_id: 'px_1_1', option_id: 'yes' });
  expect(response.status).toBe(404);
  expect(lines.join('')).not.toContain('permission answered');
});

it('POST /v1/runs refuses rules that allow tools', async () => {
  const { post, work } = await openServer();
  const request = { engine: 'gemini-acp', prompt: 'x', workdir: work, permissions: 'ask' };
  const refused = await readJson(post('/v1/runs', { ...request, approvals: [{ decide: 'allow' }] }));
  expect(refused['code']).toBe('PERMISSIONS_NOT_ALLOWED');
  expect(
    await readJson(post('/v1/runs', { ...request, approvals: [{ decide: 'deny', tool: 'bash' }] })),
  ).toHaveProperty('id');
});
