import { describe, expect, it } from 'vitest';
import type { NewOutboxMessage } from '../records/order-record.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleMessage, NOW, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT } from './fixtures/run-samples.js';

const CLAIM = { workerId: 'w1', leaseMs: 1000, now: NOW, limit: 10 };

/** The contract of claiming messages for delivery. */
export function describeOutbox(makeSite: MakeSite): void {
  /** Opens a store with an issue whose active run is settled and queued these messages. */
  async function openWith(...changes: readonly Partial<NewOutboxMessage>[]) {
    const store = await openSite(await makeSite());
    const { record } = await store.submitOrder(sampleSubmission());
    const outbox = changes.map((change) => sampleMessage(record, change));
    await store.settleOrder(sampleSettlement(record, 'advance', { outbox }));
    return { store, record, outbox };
  }

  describe('claimOutbox', () => {
    it('returns each due message once', async () => {
      const { store, outbox } = await openWith({});
      expect(await store.claimOutbox({ ...CLAIM, now: NOW - 1 })).toEqual([]);
      expect(await store.claimOutbox(CLAIM)).toMatchObject([
        { ...outbox[0], state: 'sending', tries: 1, lease_until: NOW + 1000 },
      ]);
      expect(await store.claimOutbox({ ...CLAIM, workerId: 'w2' })).toEqual([]);
    });

    it('returns a message again when its lease has expired, and counts the tries', async () => {
      const { store } = await openWith({});
      await store.claimOutbox(CLAIM);
      expect(await store.claimOutbox({ ...CLAIM, workerId: 'w2', now: NOW + 999 })).toEqual([]);
      expect(await store.claimOutbox({ ...CLAIM, workerId: 'w2', now: NOW + 1000 })).toMatchObject([{ tries: 2 }]);
    });

    it('returns one message at a time per issue and sink, in insertion order', async () => {
      const { store } = await openWith(
        { trigger: 'a', body: '1' },
        { trigger: 'b', body: '2' },
        { trigger: 'a', sink: 'hook', body: '3' },
        { trigger: 'a', issue_ref: 'local#2', body: '4' },
      );
      const claimed = await store.claimOutbox(CLAIM);
      expect(claimed.map(({ body }) => body)).toEqual(['1', '3', '4']);
      expect(await store.claimOutbox({ ...CLAIM, workerId: 'w2' })).toEqual([]);
      const first = claimed[0]?.id ?? '';
      await store.markFailed({ id: first, workerId: 'w1', error: 'x', retryAt: NOW + 50 });
      expect(await store.claimOutbox({ ...CLAIM, now: NOW + 49 })).toEqual([]);
      expect((await store.claimOutbox({ ...CLAIM, now: NOW + 50 })).map(({ body }) => body)).toEqual(['1']);
      await store.markDelivered({ id: first, workerId: 'w1', deliveredTo: 'there', now: NOW });
      expect((await store.claimOutbox(CLAIM)).map(({ body }) => body)).toEqual(['2']);
    });

    it('returns at most the requested number, and only for the requested sinks', async () => {
      const { store } = await openWith({ sink: 'a' }, { sink: 'b' }, { sink: 'c' });
      expect(await store.claimOutbox({ ...CLAIM, sinks: [] })).toEqual([]);
      expect((await store.claimOutbox({ ...CLAIM, sinks: ['c', 'b'] })).map(({ sink }) => sink)).toEqual(['b', 'c']);
      expect(await store.claimOutbox({ ...CLAIM, limit: 0 })).toEqual([]);
      expect(await store.claimOutbox({ ...CLAIM, limit: 1 })).toHaveLength(1);
    });
  });

  describe('recordStranded', () => {
    const NOTE = { sinks: ['mine'], dueBefore: NOW, error: UNTRUSTED_TEXT, limit: 10 };

    it('records once why messages for unknown sinks wait, and returns the names of the sinks', async () => {
      const { store } = await openWith(
        { sink: 'theirs', trigger: 'a' },
        { sink: 'theirs', trigger: 'b' },
        { sink: 'mine' },
        { sink: 'hers' },
      );
      expect(await store.recordStranded({ ...NOTE, dueBefore: NOW - 1 })).toEqual([]);
      expect(await store.recordStranded(NOTE)).toEqual(['hers', 'theirs']);
      expect(await store.recordStranded(NOTE)).toEqual([]);
      expect((await store.listOutbox({ state: 'waiting' })).items.map(({ last_error }) => last_error)).toEqual([
        UNTRUSTED_TEXT,
        null,
        UNTRUSTED_TEXT,
        UNTRUSTED_TEXT,
      ]);
    });

    it('reads a bounded number of messages, oldest first', async () => {
      const { store } = await openWith({ sink: 'a' }, { sink: 'b' }, { sink: 'c' });
      expect(await store.recordStranded({ ...NOTE, limit: 2 })).toEqual(['a', 'b']);
      expect(await store.recordStranded({ ...NOTE, limit: 2 })).toEqual(['c']);
    });

    it('replaces an older error, and keeps the message deliverable', async () => {
      const { store } = await openWith({ sink: 'theirs' });
      const [message] = await store.claimOutbox(CLAIM);
      expect(await store.recordStranded(NOTE)).toEqual([]);
      const failure = { id: message?.id ?? '', workerId: 'w1', error: 'no response' };
      await store.markFailed({ ...failure, retryAt: NOW });
      expect(await store.recordStranded(NOTE)).toEqual(['theirs']);
      expect(await store.claimOutbox(CLAIM)).toMatchObject([{ last_error: UNTRUSTED_TEXT, tries: 2 }]);
    });
  });

  describe('markDelivered and markFailed', () => {
    it('are rejected unless the worker holds the message', async () => {
      const { store } = await openWith({});
      const [message] = await store.claimOutbox(CLAIM);
      await store.claimOutbox({ ...CLAIM, workerId: 'w2', now: NOW + 1000 });
      const late = { id: message?.id ?? '', workerId: 'w1', now: NOW };
      expect(await store.markDelivered({ ...late, deliveredTo: 'x' })).toBe(false);
      expect(await store.markFailed({ ...late, error: 'x', retryAt: null })).toBe(false);
      expect(await store.markDelivered({ ...late, workerId: 'w2', deliveredTo: UNTRUSTED_TEXT })).toBe(true);
      expect(await store.markDelivered({ ...late, workerId: 'w2', deliveredTo: 'again' })).toBe(false);
      expect((await store.listOutbox({})).items).toMatchObject([
        { state: 'delivered', delivered_to: UNTRUSTED_TEXT, tries: 2, lease_until: null },
      ]);
    });

    it('return a message to the queue with its error', async () => {
      const { store } = await openWith({});
      const [message] = await store.claimOutbox(CLAIM);
      const failure = { id: message?.id ?? '', workerId: 'w1', error: UNTRUSTED_TEXT };
      expect(await store.markFailed({ ...failure, retryAt: NOW + 5 })).toBe(true);
      expect((await store.listOutbox({ state: 'waiting' })).items).toMatchObject([
        { due_at: NOW + 5, last_error: UNTRUSTED_TEXT, lease_until: null, tries: 1 },
      ]);
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'review' });
    });

    it('mark a message as dead without affecting its issue or later comments', async () => {
      const { store } = await openWith({ trigger: 'a' }, { trigger: 'b' });
      const issue = await store.findIssue('local#1');
      const [message] = await store.claimOutbox(CLAIM);
      const failure = { id: message?.id ?? '', workerId: 'w1', error: 'gone', retryAt: null };
      expect(await store.markFailed(failure)).toBe(true);
      expect((await store.listOutbox({ state: 'dead' })).items).toMatchObject([{ last_error: 'gone' }]);
      expect(await store.findIssue('local#1')).toEqual(issue);
      expect((await store.listInbox({})).items).toEqual([]);
      expect((await store.claimOutbox(CLAIM)).map(({ trigger }) => trigger)).toEqual(['b']);
    });
  });

  describe('redeliver', () => {
    async function openWithDead() {
      const { store, outbox } = await openWith(
        { sink: 'hook', trigger: 'a' },
        { sink: 'hook', issue_ref: 'local#2' },
        { sink: 'forge' },
      );
      for (const { id } of await store.claimOutbox(CLAIM)) {
        await store.markFailed({ id, workerId: 'w1', error: UNTRUSTED_TEXT, retryAt: null });
      }
      return { store, ids: outbox.map(({ id }) => id) };
    }

    it('makes one message due immediately, and treats it as possibly sent', async () => {
      const { store, ids } = await openWithDead();
      expect(await store.redeliver({ id: ids[0] ?? '' }, NOW + 5)).toBe(1);
      expect(await store.claimOutbox({ ...CLAIM, now: NOW + 4 })).toEqual([]);
      expect(await store.claimOutbox({ ...CLAIM, now: NOW + 5 })).toMatchObject([{ id: ids[0], tries: 2 }]);
      expect(await store.redeliver({ id: ids[0] ?? '' }, NOW)).toBe(0);
      expect(await store.redeliver({ id: 'unknown' }, NOW)).toBe(0);
    });

    it("makes all of a sink's messages due, including those waiting for a retry", async () => {
      const { store, ids } = await openWithDead();
      await store.redeliver({ id: ids[1] ?? '' }, NOW + 1_000_000);
      expect(await store.redeliver({ sink: 'hook' }, NOW)).toBe(2);
      expect((await store.claimOutbox(CLAIM)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(await store.redeliver({ sink: 'other' }, NOW)).toBe(0);
    });

    it('does not change delivered messages', async () => {
      const { store, outbox } = await openWith({});
      await store.claimOutbox(CLAIM);
      await store.markDelivered({ id: outbox[0]?.id ?? '', workerId: 'w1', deliveredTo: 'x', now: NOW });
      expect(await store.redeliver({ sink: outbox[0]?.sink ?? '' }, NOW)).toBe(0);
      expect(await store.listSinks()).toEqual([]);
    });
  });

  describe('listSinks', () => {
    it('lists sinks with undelivered comments, and whether they are failing', async () => {
      const { store } = await openWith(
        { sink: 'c' },
        { sink: 'b' },
        { sink: 'a' },
        { sink: 'a', issue_ref: 'local#2' },
      );
      const claimed = await store.claimOutbox({ ...CLAIM, sinks: ['a', 'b'] });
      for (const { id, sink } of claimed) {
        await store.markFailed({ id, workerId: 'w1', error: UNTRUSTED_TEXT, retryAt: sink === 'a' ? null : NOW + 5 });
      }
      const oldest = new Date(NOW).toISOString();
      expect(await store.listSinks()).toEqual([
        { name: 'a', state: 'broken', open: 0, dead: 2, last_error: UNTRUSTED_TEXT, oldest_at: oldest },
        { name: 'b', state: 'failing', open: 1, dead: 0, last_error: UNTRUSTED_TEXT, oldest_at: oldest },
        { name: 'c', state: 'waiting', open: 1, dead: 0, last_error: null, oldest_at: oldest },
      ]);
    });
  });
}
