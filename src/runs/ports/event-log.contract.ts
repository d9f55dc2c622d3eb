import { describe, expect, it } from 'vitest';
import { codex, toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import type { EventLog, EventQuery } from './event-log.js';

/** The events of two attempts of a run. */
export function twoAttempts(runId: string): Emitted[] {
  const clock = () => 0;
  const first = createTranslator({ engine: 'codex', runId, attempt: 1, clock });
  const events = [...first.push('stdout', toBytes([codex.thread(), codex.message('?'), codex.completed()]))];
  events.push(...first.end({ exitCode: 0, signal: null }));
  const fcmpSeq = events.filter(({ protocol }) => protocol === 'fcmp').length;
  const second = createTranslator({ engine: 'codex', runId, attempt: 2, fcmpSeq, reply: 'yes', clock });
  events.push(...second.push('stdout', toBytes([codex.message('{"__SKILL_DONE__": true}', 'item_1')])));
  return [...events, ...second.end({ exitCode: 0, signal: null })];
}

/** What every event log must do. */
export function describeEventLog(name: string, open: () => Promise<EventLog>): void {
  describe(`the event log ${name}`, () => {
    const events = twoAttempts('run-1');
    const of = (protocol: EventQuery['protocol']) => events.filter((emitted) => emitted.protocol === protocol);

    async function filled(): Promise<EventLog> {
      const log = await open();
      await log.append('run-1', events.slice(0, 3));
      await log.append('run-1', events.slice(3));
      return log;
    }

    it.each(['rasp', 'fcmp'] as const)('gives the %s events back in order', async (protocol) => {
      const log = await filled();
      expect(await log.read({ runId: 'run-1', protocol, limit: 1000 })).toEqual(of(protocol));
    });

    it.each(['rasp', 'fcmp'] as const)('gives %s events page by page', async (protocol) => {
      const log = await filled();
      const read: Emitted[] = [];
      for (;;) {
        const after = placeOf(read.at(-1));
        const page = await log.read({ runId: 'run-1', protocol, limit: 2, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        read.push(...page);
      }
      expect(read).toEqual(of(protocol));
    });

    it('gives events up to a place, inclusive', async () => {
      const log = await filled();
      const fcmp = await log.read({ runId: 'run-1', protocol: 'fcmp', after: 1, to: 3, limit: 9 });
      expect(fcmp.map(({ event }) => event.seq)).toEqual([2, 3]);
      const rasp = await log.read({ runId: 'run-1', protocol: 'rasp', after: '2:1', to: '2:2', limit: 9 });
      expect(rasp.map(({ event }) => event.seq)).toEqual([2]);
    });

    it('leaves what it has as it is', async () => {
      const log = await filled();
      await log.append('run-1', events);
      expect(await log.read({ runId: 'run-1', protocol: 'rasp', limit: 1000 })).toEqual(of('rasp'));
    });

    it('has no events of a run nobody knows', async () => {
      expect(await (await filled()).read({ runId: 'run-2', protocol: 'fcmp', limit: 1 })).toEqual([]);
    });

    it.each([
      ['fcmp', '1:2'],
      ['rasp', 3],
      ['fcmp', 'x'],
    ] as const)('refuses a place that is none (%s %s)', async (protocol, after) => {
      const read = (await open()).read({ runId: 'run-1', protocol, after, limit: 1 });
      await expect(read).rejects.toMatchObject({ code: 'INVALID_POSITION' });
    });
  });
}

function placeOf(last: Emitted | undefined): string | number | undefined {
  if (last === undefined) return undefined;
  return last.protocol === 'rasp' ? `${last.event.attempt_number}:${last.event.seq}` : last.event.seq;
}
