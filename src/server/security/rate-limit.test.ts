import { describe, expect, it } from 'vitest';
import { createRateLimit } from './rate-limit.js';

function makeLimit(perMinute: number) {
  const time = { now: 0 };
  const limit = createRateLimit({ perMinute, clock: () => time.now });
  return { time, limit, takeAll: (key: string, times: number) => Array.from({ length: times }, () => limit.take(key)) };
}

describe('a rate limit', () => {
  it('allows a burst, then a steady rate', () => {
    const { time, limit, takeAll } = makeLimit(3);
    expect(takeAll('ada', 4)).toEqual([true, true, true, false]);
    time.now += 20_000;
    expect(takeAll('ada', 2)).toEqual([true, false]);
    expect(limit.take('ada')).toBe(false);
    time.now += 600_000;
    expect(takeAll('ada', 4)).toEqual([true, true, true, false]);
  });

  it('counts each caller separately', () => {
    const { limit, takeAll } = makeLimit(1);
    expect(takeAll('ada', 2)).toEqual([true, false]);
    expect(limit.take('bob')).toBe(true);
    expect(limit.take('eve')).toBe(true);
  });

  it('allows nothing more when the clock is set back', () => {
    const { time, takeAll } = makeLimit(1);
    time.now = 1_000_000;
    takeAll('ada', 1);
    time.now = 0;
    expect(takeAll('ada', 1)).toEqual([false]);
  });

  it('evicts the least recently seen caller to bound memory', () => {
    const { limit } = makeLimit(1);
    limit.take('first');
    for (let index = 0; index < 10_000; index += 1) limit.take(`caller ${index}`);
    expect(limit.take('first')).toBe(true);
    expect(limit.take('caller 9999')).toBe(false);
  });
});
