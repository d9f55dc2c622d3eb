import { describe, expect, it } from 'vitest';
import { waitForInterruption, withInterruption } from './interruption.js';

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (name) => {
  it('aborts the command, and a second interruption is left to the system', async () => {
    const before = process.listenerCount(name);
    await withInterruption(async (signal) => {
      const ended = waitForInterruption(signal);
      expect(signal.aborted).toBe(false);
      process.emit(name);
      await ended;
      expect(signal.aborted).toBe(true);
      await waitForInterruption(signal);
      expect(process.listenerCount(name)).toBe(before);
    });
  });

  it('is left to the system once the command has ended', async () => {
    const before = process.listenerCount(name);
    await withInterruption(async () => expect(process.listenerCount(name)).toBe(before + 1));
    expect(process.listenerCount(name)).toBe(before);
  });
});
