import { describe, expect, it } from 'vitest';
import type { RunSpec } from '../../records/run-spec.js';
import { codeOf, openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, submissionOf } from './fixtures/order-samples.js';
import { HOSTILE_TEXT, runResultOf, specOf } from './fixtures/run-samples.js';

const QUEUED = { state: 'queued', now: NOW } as const;
const CLAIM = { workerId: 'w1', leaseMs: 1000, now: NOW };
const HOLD = { id: 'r1', ...CLAIM, state: 'running' } as const;

/** How runs are queued, held and ended. */
export function describeRuns(makeSite: MakeSite): void {
  describe('runs', () => {
    it('are kept as they were created', async () => {
      const store = await openSite(await makeSite());
      const spec = specOf({ prompt: HOSTILE_TEXT, contract: { schema: { type: 'object' }, profile: 'tagged' } });
      await store.createRun({ id: 'r1', spec, ...QUEUED });
      expect(await store.findRun('r1')).toEqual({
        id: 'r1',
        spec,
        state: 'queued',
        order: null,
        worker_id: null,
        lease_until: null,
        cancel_requested: false,
        created_at: '2026-11-15T06:00:00.000Z',
        started_at: null,
        ended_at: null,
        result: null,
      });
      expect(await store.findRun('r2')).toBeUndefined();
    });

    it('can be recorded while they already run, for an order', async () => {
      const store = await openSite(await makeSite());
      const order = { issue_ref: 'local#1', run_id: '2026-11-15-backend-0001' };
      await store.createRun({
        id: 'r1',
        spec: specOf(),
        order,
        workerId: 'w1',
        leaseMs: 1000,
        state: 'running',
        now: NOW,
      });
      expect(await store.findRun('r1')).toMatchObject({
        state: 'running',
        order,
        worker_id: 'w1',
        lease_until: NOW + 1000,
        started_at: '2026-11-15T06:00:00.000Z',
      });
      expect(await store.claimRun(CLAIM)).toBeUndefined();
    });

    it('stay as they are when created twice', async () => {
      const store = await openSite(await makeSite());
      expect(await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED })).toEqual({ id: 'r1', repeated: false });
      const other = specOf({ prompt: 'other' });
      expect(await store.createRun({ id: 'r1', spec: other, ...QUEUED })).toEqual({ id: 'r1', repeated: true });
      expect((await store.findRun('r1'))?.spec).toEqual(specOf());
    });

    it('are one for the same request id, whatever has become of it', async () => {
      const store = await openSite(await makeSite());
      const asked = { spec: specOf({ prompt: HOSTILE_TEXT }), requestId: 'q1', ...QUEUED };
      expect(await store.createRun({ id: 'r1', ...asked })).toEqual({ id: 'r1', repeated: false });
      expect(await store.createRun({ id: 'r2', ...asked })).toEqual({ id: 'r1', repeated: true });
      await store.claimRun(CLAIM);
      await store.endRun({ id: 'r1', workerId: 'w1', result: runResultOf(), now: NOW });
      expect(await store.createRun({ id: 'r3', ...asked, now: NOW + 5 })).toEqual({ id: 'r1', repeated: true });
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual(['r1']);
      expect((await store.listRuns({ search: 'project' })).items).toHaveLength(1);
    });

    it('are one for the same request id, however many ask at once', async () => {
      const store = await openSite(await makeSite());
      const asked = { spec: specOf(), requestId: 'q1', ...QUEUED };
      const answers = await Promise.all(['r1', 'r2', 'r3', 'r4'].map(async (id) => store.createRun({ id, ...asked })));
      expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual([...new Set(answers.map(({ id }) => id))]);
    });

    it('are one for the same request in whatever order its fields stand, and with fields that hold nothing', async () => {
      const store = await openSite(await makeSite());
      const contract = { schema: { type: 'object', required: ['a'] }, align: true };
      const asked = { requestId: 'q1', ...QUEUED };
      await store.createRun({ id: 'r1', spec: specOf({ contract }), ...asked });
      const { schema, ...rest } = contract;
      const turned = specOf({ contract: { ...rest, schema: { required: ['a'], type: schema.type } } });
      const holed = { ...turned, model: undefined } as unknown as RunSpec;
      expect(await store.createRun({ id: 'r2', spec: holed, ...asked })).toEqual({ id: 'r1', repeated: true });
    });

    it('are refused under the request id of another one', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), requestId: 'q1', ...QUEUED });
      const other = store.createRun({ id: 'r2', spec: specOf({ prompt: 'other' }), requestId: 'q1', ...QUEUED });
      expect(await codeOf(other)).toBe('REQUEST_ID_REUSED');
      await expect(other).rejects.toThrow('q1 is the id of run r1, which asks for something else');
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual(['r1']);
    });

    it('have request ids of their own, beside those of orders', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(submissionOf({ request_id: 'q1' }));
      const run = { id: 'r1', spec: specOf(), requestId: 'q1', ...QUEUED };
      expect(await store.createRun(run)).toEqual({ id: 'r1', repeated: false });
    });

    it('with code in their contract can be recorded but not queued', async () => {
      const store = await openSite(await makeSite());
      const schema = { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } } as const;
      const contract = { schema, profile: 'tagged', normalizers: [(value: unknown) => value] } as const;
      expect(await codeOf(store.createRun({ id: 'r1', spec: specOf({ contract }), ...QUEUED }))).toBe(
        'SPEC_NOT_STORABLE',
      );
      await store.createRun({ id: 'r2', spec: specOf({ contract }), state: 'running', now: NOW });
      expect((await store.findRun('r2'))?.spec).toEqual(specOf({ contract: { profile: 'tagged' } }));
    });

    it('are given out oldest first, each once', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) await store.createRun({ id, spec: specOf(), ...QUEUED });
      expect(await store.claimRun(CLAIM)).toMatchObject({ id: 'r1', state: 'running', worker_id: 'w1' });
      expect(await store.claimRun({ ...CLAIM, workerId: 'w2' })).toMatchObject({ id: 'r2', lease_until: NOW + 1000 });
      expect(await store.claimRun(CLAIM)).toBeUndefined();
    });

    it('end once, by their holder', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED });
      await store.claimRun(CLAIM);
      const result = runResultOf({ value: { text: HOSTILE_TEXT } });
      expect(await store.endRun({ id: 'r1', workerId: 'w2', result, now: NOW })).toBe(false);
      expect(await store.endRun({ id: 'r1', workerId: 'w1', result, now: NOW + 5 })).toBe(true);
      expect(await store.endRun({ id: 'r1', workerId: 'w1', result, now: NOW + 9 })).toBe(false);
      expect(await store.renewRun(HOLD)).toEqual({ held: false, cancel: false, reply: null });
      expect(await store.findRun('r1')).toMatchObject({
        state: 'ended',
        result,
        ended_at: '2026-11-15T06:00:00.005Z',
        lease_until: null,
      });
    });

    it('tell their holder that they are to be canceled', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED });
      await store.claimRun(CLAIM);
      expect(await store.requestCancel('r1', NOW)).toMatchObject({ cancel_requested: true, state: 'running' });
      expect(await store.renewRun({ ...HOLD, now: NOW + 50 })).toEqual({ held: true, cancel: true, reply: null });
      expect(await store.findRun('r1')).toMatchObject({ lease_until: NOW + 1050 });
      expect(await store.requestCancel('none', NOW)).toBeUndefined();
    });

    it('are over at once when canceled before anyone took them', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED });
      expect(await store.requestCancel('r1', NOW)).toMatchObject({
        state: 'ended',
        cancel_requested: true,
        ended_at: '2026-11-15T06:00:00.000Z',
        result: { status: 'canceled', attempts: 0 },
      });
      expect(await store.claimRun(CLAIM)).toBeUndefined();
    });

    it('keep their result when canceled after the end', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED });
      await store.claimRun(CLAIM);
      await store.endRun({ id: 'r1', workerId: 'w1', result: runResultOf(), now: NOW });
      expect(await store.requestCancel('r1', NOW)).toMatchObject({ cancel_requested: false, result: runResultOf() });
    });

    it('hand on one answer to each question', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: specOf(), ...QUEUED });
      await store.claimRun(CLAIM);
      expect(await store.postReply('none', 'yes')).toBe('not_found');
      expect(await store.postReply('r1', 'yes')).toBe('not_waiting');
      await store.renewRun({ ...HOLD, state: 'waiting' });
      expect(await store.findRun('r1')).toMatchObject({ state: 'waiting' });
      expect(await store.postReply('r1', HOSTILE_TEXT)).toBe('posted');
      expect(await store.postReply('r1', 'no')).toBe('not_waiting');
      expect((await store.renewRun({ ...HOLD, workerId: 'w2', state: 'waiting' })).reply).toBeNull();
      expect((await store.renewRun({ ...HOLD, state: 'waiting' })).reply).toBe(HOSTILE_TEXT);
      expect(await store.findRun('r1')).toMatchObject({ state: 'running' });
      expect((await store.renewRun(HOLD)).reply).toBeNull();
      expect(await store.postReply('r1', 'late')).toBe('not_waiting');
    });

    it('whose holder is gone are listed, running or waiting', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2', 'r3']) await store.createRun({ id, spec: specOf(), ...QUEUED });
      await store.createRun({ id: 'r4', spec: specOf(), state: 'running', now: NOW });
      for (let turn = 0; turn < 2; turn++) await store.claimRun(CLAIM);
      await store.renewRun({ ...HOLD, id: 'r2', state: 'waiting' });
      expect(await store.listExpiredRuns(NOW + 999)).toEqual([]);
      expect(await store.listExpiredRuns(NOW + 1000)).toMatchObject([
        { id: 'r1', worker_id: 'w1' },
        { id: 'r2', state: 'waiting' },
      ]);
      await store.endRun({ id: 'r1', workerId: 'w1', result: runResultOf(), now: NOW });
      expect(await store.listExpiredRuns(NOW + 1000)).toMatchObject([{ id: 'r2' }]);
    });

    it('are listed newest first, by state and engine', async () => {
      const store = await openSite(await makeSite());
      const engines = ['command', 'codex', 'command'] as const;
      for (const [index, engine] of engines.entries()) {
        await store.createRun({ id: `r${index}`, spec: specOf({ engine }), ...QUEUED });
      }
      await store.claimRun(CLAIM);
      const ids = async (page: Parameters<typeof store.listRuns>[0]): Promise<string[]> =>
        (await store.listRuns(page)).items.map(({ id }) => id);
      expect(await ids({})).toEqual(['r2', 'r1', 'r0']);
      expect(await ids({ state: 'queued' })).toEqual(['r2', 'r1']);
      expect(await ids({ engine: 'command' })).toEqual(['r2', 'r0']);
      expect(await ids({ engine: 'command', state: 'running' })).toEqual(['r0']);
      const { next_cursor: cursor } = await store.listRuns({ limit: 2 });
      expect(await ids({ limit: 2, cursor: cursor ?? '' })).toEqual(['r0']);
    });
  });
}
