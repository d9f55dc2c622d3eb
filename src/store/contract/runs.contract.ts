import { describe, expect, it } from 'vitest';
import type { RunSpec } from '../records/run-spec.js';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleClaim, NOW, sampleSubmission } from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const QUEUED = { state: 'queued', now: NOW } as const;

/** The contract of queued, stored and listed runs. */
export function describeRuns(makeSite: MakeSite): void {
  describe('runs', () => {
    it('are stored unchanged', async () => {
      const store = await openSite(await makeSite());
      const spec = sampleSpec({ prompt: UNTRUSTED_TEXT, contract: { schema: { type: 'object' }, profile: 'tagged' } });
      await store.createRun({ id: 'r1', spec, ...QUEUED });
      expect(await store.findRun('r1')).toEqual({
        id: 'r1',
        spec,
        state: 'queued',
        order: null,
        owner: null,
        lease_until: null,
        cancel_requested: false,
        waiting_for: null,
        created_at: '2026-11-15T06:00:00.000Z',
        started_at: null,
        ended_at: null,
        result: null,
      });
      expect(await store.findRun('r2')).toBeUndefined();
    });

    it('can be recorded while they are already running', async () => {
      const store = await openSite(await makeSite());
      const run = { id: 'r1', spec: sampleSpec(), workerId: 'w1', leaseMs: 1000, state: 'running', now: NOW } as const;
      await store.createRun(run);
      expect(await store.findRun('r1')).toMatchObject({
        state: 'running',
        owner: { worker_id: 'w1' },
        lease_until: NOW + 1000,
        started_at: '2026-11-15T06:00:00.000Z',
      });
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
    });

    it('are not changed when created twice', async () => {
      const store = await openSite(await makeSite());
      expect(await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED })).toEqual({ id: 'r1', repeated: false });
      const other = sampleSpec({ prompt: 'other' });
      expect(await store.createRun({ id: 'r1', spec: other, ...QUEUED })).toEqual({ id: 'r1', repeated: true });
      expect((await store.findRun('r1'))?.spec).toEqual(sampleSpec());
    });

    it("are created once per request id, regardless of the first run's state", async () => {
      const store = await openSite(await makeSite());
      const request = { spec: sampleSpec({ prompt: UNTRUSTED_TEXT }), requestId: 'q1', ...QUEUED };
      expect(await store.createRun({ id: 'r1', ...request })).toEqual({ id: 'r1', repeated: false });
      expect(await store.createRun({ id: 'r2', ...request })).toEqual({ id: 'r1', repeated: true });
      await store.claimRun(sampleClaim());
      await store.endRun({ id: 'r1', workerId: 'w1', result: createRunResult(), now: NOW });
      expect(await store.createRun({ id: 'r3', ...request, now: NOW + 5 })).toEqual({ id: 'r1', repeated: true });
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual(['r1']);
      expect((await store.listRuns({ search: 'project' })).items).toHaveLength(1);
    });

    it('are created once per request id under concurrent requests', async () => {
      const store = await openSite(await makeSite());
      const request = { spec: sampleSpec(), requestId: 'q1', ...QUEUED };
      const created = await Promise.all(
        ['r1', 'r2', 'r3', 'r4'].map(async (id) => store.createRun({ id, ...request })),
      );
      expect(created.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual([...new Set(created.map(({ id }) => id))]);
    });

    it('are created once per request, regardless of field order and undefined fields', async () => {
      const store = await openSite(await makeSite());
      const contract = { schema: { type: 'object', required: ['a'] }, align: true };
      const request = { requestId: 'q1', ...QUEUED };
      await store.createRun({ id: 'r1', spec: sampleSpec({ contract }), ...request });
      const { schema, ...options } = contract;
      const reordered = sampleSpec({ contract: { ...options, schema: { required: ['a'], type: schema.type } } });
      const withUndefined = { ...reordered, model: undefined } as unknown as RunSpec;
      expect(await store.createRun({ id: 'r2', spec: withUndefined, ...request })).toEqual({
        id: 'r1',
        repeated: true,
      });
    });

    it('are created once per request, even if it is repeated with a different trace context', async () => {
      const store = await openSite(await makeSite());
      const span = (digit: string) => `00-${'a'.repeat(32)}-${digit.repeat(16)}-01`;
      const request = { requestId: 'q1', ...QUEUED };
      await store.createRun({ id: 'r1', spec: sampleSpec({ traceparent: span('1') }), ...request });
      const again = await store.createRun({ id: 'r2', spec: sampleSpec({ traceparent: span('2') }), ...request });
      expect(again).toEqual({ id: 'r1', repeated: true });
    });

    it('are rejected if a different request used the same request id', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), requestId: 'q1', ...QUEUED });
      const other = store.createRun({ id: 'r2', spec: sampleSpec({ prompt: 'other' }), requestId: 'q1', ...QUEUED });
      expect(await catchCode(other)).toBe('REQUEST_ID_REUSED');
      await expect(other).rejects.toThrow('The request_id "q1" belongs to run "r1", a different request.');
      expect((await store.listRuns({})).items.map(({ id }) => id)).toEqual(['r1']);
    });

    it('do not share request ids with orders', async () => {
      const store = await openSite(await makeSite());
      await store.submitOrder(sampleSubmission({ request_id: 'q1' }));
      const run = { id: 'r1', spec: sampleSpec(), requestId: 'q1', ...QUEUED };
      expect(await store.createRun(run)).toEqual({ id: 'r1', repeated: false });
    });

    it('can be recorded but not queued if their contract contains code', async () => {
      const store = await openSite(await makeSite());
      const schema = { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } } as const;
      const contract = { schema, profile: 'tagged', normalizers: [(value: unknown) => value] } as const;
      expect(await catchCode(store.createRun({ id: 'r1', spec: sampleSpec({ contract }), ...QUEUED }))).toBe(
        'SPEC_NOT_STORABLE',
      );
      await store.createRun({ id: 'r2', spec: sampleSpec({ contract }), state: 'running', now: NOW });
      expect((await store.findRun('r2'))?.spec).toEqual(sampleSpec({ contract: { profile: 'tagged' } }));
    });

    it('are listed newest first, by state and engine', async () => {
      const store = await openSite(await makeSite());
      const engines = ['command', 'codex', 'command'] as const;
      for (const [index, engine] of engines.entries()) {
        await store.createRun({ id: `r${index}`, spec: sampleSpec({ engine }), ...QUEUED });
      }
      await store.claimRun(sampleClaim());
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
