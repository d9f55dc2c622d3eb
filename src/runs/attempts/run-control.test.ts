import { describe, expect, it } from 'vitest';
import { RunControl } from './run-control.js';

const CANCEL = { verdict: 'canceled', reason: 'enough' } as const;

describe('a stop', () => {
  it('calls all listeners, including those added later', () => {
    const control = new RunControl();
    const called: string[] = [];
    control.onStop(({ reason }) => called.push(`before: ${reason}`));
    const unsubscribe = control.onStop(() => called.push('unsubscribed'));
    unsubscribe();
    control.requestStop(CANCEL);
    control.onStop(({ reason }) => called.push(`after: ${reason}`));
    expect(called).toEqual(['before: enough', 'after: enough']);
  });

  it('is decided by the first call', () => {
    const control = new RunControl();
    control.requestStop(CANCEL);
    control.requestStop({ verdict: 'limit', reason: 'late' });
    expect(control.stop).toEqual(CANCEL);
  });

  it('after the end has no effect', () => {
    const control = new RunControl();
    control.end();
    control.requestStop(CANCEL);
    expect(control.stop).toBeNull();
  });
});

describe('a reply', () => {
  it('ends the wait, whether it arrives before or after', async () => {
    const control = new RunControl();
    control.ask();
    control.reply('early');
    expect(await control.waitForReply()).toBe('early');
    control.ask();
    const answer = control.waitForReply();
    control.reply('late');
    expect(await answer).toBe('late');
  });

  it('is rejected if no question is open, and when sent twice', async () => {
    const control = new RunControl();
    const misuse = expect.objectContaining({ code: 'REPLY_NOT_EXPECTED' });
    expect(() => control.reply('x')).toThrow(misuse);
    control.ask();
    control.reply('x');
    expect(() => control.reply('y')).toThrow(misuse);
    await control.waitForReply();
    control.ask();
    control.end();
    expect(() => control.reply('z')).toThrow(misuse);
  });

  it.each(['', '  ', 'x'.repeat(2_000_000)])('must not be empty or too long', (text) => {
    const control = new RunControl();
    control.ask();
    expect(() => control.reply(text)).toThrow(expect.objectContaining({ code: 'INVALID_REPLY' }));
  });

  it('is no longer awaited after a stop', async () => {
    const control = new RunControl();
    control.ask();
    const answer = control.waitForReply();
    control.requestStop(CANCEL);
    expect(await answer).toEqual(CANCEL);
    expect(() => control.reply('x')).toThrow(/the run has ended/);
  });
});
