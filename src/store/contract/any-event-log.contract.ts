import { describe, expect, it } from 'vitest';
import { getPosition } from '../../events/log/event-pack.js';
import { codex, toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import type { EventLog, EventQuery } from '../ports/index.js';

/** Creates events for two attempts of a run. */
export function createTwoAttempts(runId: string): Emitted[] {
  const clock = () => 0;
  const first = createTranslator({ engine: 'codex', runId, attempt: 1, clock });
  const events = [...first.push('stdout', toBytes([codex.thread(), codex.message('?'), codex.completed()]))];
  events.push(...first.end({ exitCode: 0, signal: null }));
  const fcmpSeq = events.filter(({ protocol }) => protocol === 'fcmp').length;
  const second = createTranslator({ engine: 'codex', runId, attempt: 2, fcmpSeq, reply: 'yes', clock });
  events.push(...second.push('stdout', toBytes([codex.message('{"__SKILL_DONE__": true}', 'item_1')])));
  return [...events, ...second.end({ exitCode: 0, signal: null })];
}

const EVENTS = createTwoAttempts('run-1');
const RASP = EVENTS.filter(({ protocol }) => protocol === 'rasp');
const FCMP = EVENTS.filter(({ protocol }) => protocol === 'fcmp');
const PROTOCOLS = [
  ['rasp', RASP],
  ['fcmp', FCMP],
] as const;

/** The contract of every event log. `open` creates an empty one. */
export function describeEventLog(name: string, open: () => Promise<EventLog>): void {
  describe(`the event log ${name}`, () => {
    async function openLogWithEvents(): Promise<EventLog> {
      const log = await open();
      await log.append('run-1', EVENTS.slice(0, 3));
      await log.append('run-2', createTwoAttempts('run-2'));
      await log.append('run-1', EVENTS.slice(3));
      return log;
    }

    async function read(log: EventLog, query: Partial<EventQuery>): Promise<readonly Emitted[]> {
      return log.read({ runId: 'run-1', protocol: 'fcmp', limit: 1000, ...query });
    }

    /** Returns the positions of the events found by a query. */
    async function listPositions(log: EventLog, query: Partial<EventQuery>): Promise<string[]> {
      return (await read(log, query)).map(formatPosition);
    }

    it.each(PROTOCOLS)('returns the %s events of a run in order', async (protocol, events) => {
      expect(await read(await openLogWithEvents(), { protocol })).toEqual(events);
    });

    it.each(PROTOCOLS)('returns %s events page by page', async (protocol, events) => {
      const log = await openLogWithEvents();
      const all: Emitted[] = [];
      for (;;) {
        const after = all.slice(-1).map(formatPosition)[0];
        const page = await read(log, { protocol, limit: 2, ...(after === undefined ? {} : { after }) });
        expect(page.length).toBeLessThanOrEqual(2);
        if (page.length === 0) break;
        all.push(...page);
      }
      expect(all).toEqual(events);
    });

    it('reads after one position up to another', async () => {
      const log = await openLogWithEvents();
      expect(await listPositions(log, { after: 1, to: 3 })).toEqual(['2', '3']);
      expect(await listPositions(log, { after: '1', to: '3' })).toEqual(['2', '3']);
      expect(await listPositions(log, { after: 1, to: 9, limit: 1 })).toEqual(['2']);
      expect(await listPositions(log, { after: 3, to: 3 })).toEqual([]);
      expect(await listPositions(log, { after: 999_999_999 })).toEqual([]);
    });

    it('continues from attempt to attempt', async () => {
      const log = await openLogWithEvents();
      const positions = RASP.map(formatPosition);
      const lastOfFirst = positions.findLastIndex((position) => position.startsWith('1:'));
      const protocol = 'rasp';
      expect(await listPositions(log, { protocol, after: '2:1', to: '2:2' })).toEqual(['2:2']);
      expect(await listPositions(log, { protocol, after: '1:999' })).toEqual(positions.slice(lastOfFirst + 1));
      expect(await listPositions(log, { protocol, to: '1:999' })).toEqual(positions.slice(0, lastOfFirst + 1));
    });

    it.each([0, -1, 0.5, 1.9, Number.NaN])(
      'returns one event if %d are requested, because an empty page means that there are no more',
      async (limit) => {
        expect(await listPositions(await openLogWithEvents(), { limit })).toEqual(['1']);
      },
    );

    it('returns at most 10,000 events per page', async () => {
      const log = await open();
      const [event] = FCMP;
      await log.append(
        'run-1',
        event === undefined ? [] : Array.from({ length: 10_001 }, (_, index) => withSeq(event, index)),
      );
      const page = await read(log, { limit: Number.POSITIVE_INFINITY });
      expect(page.length).toBeGreaterThan(0);
      expect(page.length).toBeLessThanOrEqual(10_000);
    });

    it('does not change stored events', async () => {
      const log = await openLogWithEvents();
      await log.append('run-1', EVENTS);
      expect(await read(log, { protocol: 'rasp' })).toEqual(RASP);
    });

    it('keeps the first of two events with the same position', async () => {
      const log = await open();
      const [one, two] = FCMP;
      if (one === undefined || two === undefined) throw new Error('two events are needed');
      await log.append('run-1', [one, withLaterTime(one)]);
      await log.append('run-1', [withLaterTime(one), two]);
      expect(await read(log, {})).toEqual([one, two]);
    });

    it('has no events for an unknown run', async () => {
      expect(await read(await openLogWithEvents(), { runId: 'run-3' })).toEqual([]);
    });

    it.each([
      { protocol: 'fcmp', after: '1:2' },
      { protocol: 'rasp', after: 3 },
      { protocol: 'fcmp', after: 'x' },
      { protocol: 'fcmp', after: -1 },
      { protocol: 'fcmp', after: 1_000_000_000 },
      { protocol: 'fcmp', to: '' },
      { protocol: 'rasp', to: '1:2:3' },
    ] as const)('rejects an invalid position: %o', async (query) => {
      await expect(read(await open(), query)).rejects.toMatchObject({ code: 'INVALID_POSITION' });
    });
  });
}

/** Formats an event's position as in a query. */
function formatPosition(emitted: Emitted): string {
  const { attempt, seq } = getPosition(emitted);
  return emitted.protocol === 'rasp' ? `${attempt}:${seq}` : String(seq);
}

function withSeq({ protocol, event }: Emitted, index: number): Emitted {
  return { protocol, event: { ...event, seq: index + 1 } } as Emitted;
}

function withLaterTime({ protocol, event }: Emitted): Emitted {
  return { protocol, event: { ...event, ts: '2026-11-15T07:00:00.000Z' } } as Emitted;
}
