import { describe, expect, it } from 'vitest';
import type { RunSpec } from '../../records/run-spec.js';
import { codeOf, openSite, type MakeSite } from './fixtures/open-site.js';
import { claimOf, NOW, submissionOf } from './fixtures/order-samples.js';
import { HOSTILE_TEXT, runResultOf, specOf } from './fixtures/run-samples.js';

const QUEUED = { state: 'queued', now: NOW } as const;

/** How runs are queued, kept and listed. */
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

    it('can be recorded while they already run', async () => {
      const store = await openSite(await makeSite());
      const run = { id: 'r1', spec: specOf(), workerId: 'w1', leaseMs: 1000, state: 'running', now: NOW } as const;
      await store.createRun(run);
      expect(await store.findRun('r1')).toMatchObject({
        state: 'running',
        owner: { worker_id: 'w1' },
        lease_until: NOW + 1000,
        started_at: '2026-11-15T06:00:00.000Z',
      });
      expect(await store.claimRun(claimOf())).toBeUndefined();
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
      await store.claimRun(claimOf());
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

    it('are listed newest first, by state and engine', async () => {
      const store = await openSite(await makeSite());
      const engines = ['command', 'codex', 'command'] as const;
      for (const [index, engine] of engines.entries()) {
        await store.createRun({ id: `r${index}`, spec: specOf({ engine }), ...QUEUED });
      }
      await store.claimRun(claimOf());
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
