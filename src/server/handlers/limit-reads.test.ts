import { describe, expect, it, onTestFinished } from 'vitest';
import { limitReads } from './run-events.js';

describe('reading in turns', () => {
  it('reads one page in each turn of the event loop, no matter how many readers there are', async () => {
    let pages = 0;
    const perTurn: number[] = [];
    const log = limitReads({
      async read() {
        pages += 1;
        return [];
      },
    });
    let seen = 0;
    let timer = setImmediate(count);
    onTestFinished(() => clearImmediate(timer));
    function count(): void {
      perTurn.push(pages - seen);
      seen = pages;
      timer = setImmediate(count);
    }
    const readers = Array.from({ length: 30 }, async (_, index) => {
      for (let page = 0; page < 10; page += 1) await log.read({ runId: `run-${index}`, protocol: 'fcmp', limit: 256 });
    });
    await Promise.all(readers);
    expect(pages).toBe(300);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  });
});
