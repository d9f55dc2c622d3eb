import { describe, expect, it } from 'vitest';
import type { Fault } from './fixtures/faulty-server.js';
import { makeMessage } from './fixtures/message.js';
import { formatMarker, SinkError } from './sink.js';
import type { Sink } from './sink.js';

/** A sink under test and its target. */
export interface SinkUnderTest {
  readonly sink: Sink;
  /** Returns the comments received so far, one string each. */
  readonly arrived: () => Promise<readonly string[]>;
  /** Only for sinks that use a network. */
  readonly failNext?: (...faults: readonly Fault[]) => void;
}

/** The contract of every sink. */
export function describeSink(name: string, start: () => Promise<SinkUnderTest>): void {
  const signal = AbortSignal.timeout(60_000);

  describe(`a sink: ${name}`, () => {
    it('delivers a message once and returns its URL', async () => {
      const { sink, arrived } = await start();
      const { deliveredTo } = await sink.send(makeMessage(), signal);
      expect(deliveredTo).not.toBe('');
      expect(await arrived()).toHaveLength(1);
      expect((await arrived())[0]).toContain('## Summary\nDone.');
    });

    it('stores messages in the order they were sent', async () => {
      const { sink, arrived } = await start();
      for (const number of ['0001', '0002', '0003']) {
        await sink.send(
          makeMessage({ id: `id-${number}`, trigger: `workrun:${number}`, body: `run ${number}` }),
          signal,
        );
      }
      expect((await arrived()).map((text) => /run (\d+)/.exec(text)?.[1])).toEqual(['0001', '0002', '0003']);
    });

    it('does not change text in any language or with line breaks', async () => {
      const { sink, arrived } = await start();
      const body = 'Role: qa\n\n## Summary\n完成 ✓ "quoted" \\ <b>bold</b>\n\n```\ncode\n```';
      await sink.send(makeMessage({ body }), signal);
      expect((await arrived())[0]).toContain(body);
    });
  });
}

/** The contract of searchable sinks. */
export function describeSearchableSink(name: string, start: () => Promise<Required<SinkUnderTest>>): void {
  const signal = AbortSignal.timeout(60_000);

  describe(`a searchable sink: ${name}`, () => {
    it('finds a message that it sent, but no other message', async () => {
      const { sink } = await start();
      const sent = await sink.send(makeMessage(), signal);
      expect(await sink.find?.(makeMessage(), signal)).toEqual(sent);
      expect(await sink.find?.(makeMessage({ id: 'another' }), signal)).toBeUndefined();
    });

    it('finds a message after many pages of others', async () => {
      const { sink } = await start();
      for (let number = 0; number < 25; number++) await sink.send(makeMessage({ id: `other-${number}` }), signal);
      await sink.send(makeMessage(), signal);
      expect(await sink.find?.(makeMessage(), signal)).toBeDefined();
    });

    it("ignores a marker in a comment's text", async () => {
      const { sink } = await start();
      const victim = makeMessage({ id: 'victim', trigger: 'workrun:2026-11-15-backend-0002' });
      await sink.send(makeMessage({ body: `see ${formatMarker(victim)}` }), signal);
      expect(await sink.find?.(victim, signal)).toBeUndefined();
    });

    const lost: readonly (readonly [string, Fault])[] = [
      ['the connection was reset after the message was accepted', { kind: 'reset-after' }],
      ['no response arrived', { kind: 'silence-after' }],
      ['the server failed after it had accepted the message', { kind: 'status-after', status: 502 }],
      ['the response was unreadable', { kind: 'garbage-after' }],
    ];
    it.each(lost)('finds the message when %s', async (_, fault) => {
      const { sink, failNext, arrived } = await start();
      failNext(fault);
      await expect(sink.send(makeMessage(), signal)).rejects.toBeInstanceOf(SinkError);
      expect(await arrived()).toHaveLength(1);
      expect(await sink.find?.(makeMessage(), signal)).toBeDefined();
    });
  });
}

/** The contract of sinks that use a network: every failure is typed, and nothing is retried automatically. */
export function describeNetworkSink(name: string, start: () => Promise<Required<SinkUnderTest>>): void {
  const signal = AbortSignal.timeout(60_000);

  describe(`a sink over a network: ${name}`, () => {
    const faults: readonly (readonly [string, Fault, Partial<SinkError>])[] = [
      ['500', { kind: 'status', status: 500 }, { code: 'SINK_REFUSED', isPermanent: false }],
      ['502', { kind: 'status', status: 502 }, { code: 'SINK_REFUSED', isPermanent: false }],
      [
        '429 with Retry-After',
        { kind: 'status', status: 429, headers: { 'retry-after': '7' } },
        { code: 'SINK_REFUSED', isPermanent: false, retryAfterMs: 7000 },
      ],
      [
        '403 for too many requests',
        { kind: 'status', status: 403, headers: { 'retry-after': '60' } },
        { code: 'SINK_REFUSED', isPermanent: false, retryAfterMs: 60_000 },
      ],
      ['401', { kind: 'status', status: 401 }, { code: 'SINK_REFUSED', isPermanent: true }],
      ['404', { kind: 'status', status: 404 }, { code: 'SINK_REFUSED', isPermanent: true }],
      [
        'a redirect to another host',
        { kind: 'status', status: 307, headers: { location: 'http://127.0.0.2:9/' } },
        { code: 'SINK_REFUSED', isPermanent: true },
      ],
      ['a reset connection', { kind: 'reset-before' }, { code: 'SINK_UNREACHABLE', isPermanent: false }],
      ['no response', { kind: 'silence-after' }, { code: 'SINK_TIMED_OUT', isPermanent: false }],
    ];
    it.each(faults)('reports %s as a failure, without a retry', async (_, fault, expected) => {
      const { sink, failNext, arrived } = await start();
      const before = (await arrived()).length;
      failNext(fault);
      await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ name: 'SinkError', ...expected });
      expect((await arrived()).length - before).toBe(fault.kind.endsWith('after') ? 1 : 0);
    });

    it('stops when the timeout of its caller expires', async () => {
      const { sink, failNext } = await start();
      failNext({ kind: 'silence-after' });
      await expect(sink.send(makeMessage(), AbortSignal.timeout(20))).rejects.toMatchObject({ code: 'SINK_TIMED_OUT' });
    });

    it("stops with the signal's reason when its caller aborts it", async () => {
      const { sink, failNext } = await start();
      const reason = new Error('shutting down');
      const canceled = new AbortController();
      failNext({ kind: 'silence-after' });
      setTimeout(() => canceled.abort(reason), 20);
      await expect(sink.send(makeMessage(), canceled.signal)).rejects.toBe(reason);
    });
  });
}
