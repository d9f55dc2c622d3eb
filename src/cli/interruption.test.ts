import { describe, expect, it, onTestFinished } from 'vitest';
import { listenForInterruption, waitForInterruption } from './interruption.js';

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it('aborts the command, and a second interruption is left to the system', async () => {
    const before = process.listenerCount(signal);
    const interruption = listenForInterruption();
    onTestFinished(() => interruption.stopListening());
    const ended = waitForInterruption(interruption);
    expect(interruption.signal.aborted).toBe(false);
    process.emit(signal);
    await ended;
    expect(interruption.signal.aborted).toBe(true);
    await waitForInterruption(interruption);
    expect(process.listenerCount(signal)).toBe(before);
  });

  it('is left to the system once the listener is removed', () => {
    const before = process.listenerCount(signal);
    listenForInterruption().stopListening();
    expect(process.listenerCount(signal)).toBe(before);
  });
});
