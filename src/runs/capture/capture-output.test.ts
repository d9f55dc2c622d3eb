import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { CapturedChunk } from '../run-folder/index.js';
import type { Stop } from '../attempts/run-control.js';
import type { OutputChunk } from '../process/output-queue.js';
import { resolveLimits } from '../spec/check-run-spec.js';
import { captureOutput, OutputLimiter } from './capture-output.js';
import type { CaptureOptions } from './capture-output.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const out = (text: string): OutputChunk => ({ stream: 'stdout', bytes: bytes(text) });

function startCapture(output: AsyncGenerator<OutputChunk, void>, changes: Partial<CaptureOptions> = {}) {
  const batches: string[][] = [];
  const stops: Stop[] = [];
  const options: CaptureOptions = {
    output: { read: async () => (await output.next()).value ?? null, abandon: () => void output.return() },
    limiter: new OutputLimiter(resolveLimits(), 0),
    secrets: { mask: (_, received) => received, endMask: () => [] },
    now: () => 0,
    async store(chunks) {
      batches.push(chunks.map((chunk) => new TextDecoder().decode(chunk.bytes)));
      await turn();
    },
    stop: (stop) => stops.push(stop),
    abandon: () => undefined,
    idleMs: 10_000,
    ...changes,
  };
  return { batches, stops, done: captureOutput(options) };
}

async function* print(...chunks: (OutputChunk | Promise<unknown>)[]): AsyncGenerator<OutputChunk, void> {
  for (const chunk of chunks) {
    if (chunk instanceof Promise) await chunk;
    else yield chunk;
  }
}

describe('process output', () => {
  it('is written in order; output that arrives during a write is written in one batch', async () => {
    const output = print(out('a'), out('b'), out('c'), Promise.resolve().then(untilWritten), out('d'));
    const { batches, done } = startCapture(output);
    async function untilWritten(): Promise<void> {
      await vi.waitFor(() => expect(batches).toHaveLength(2), { timeout: 15_000 });
    }
    await done;
    expect(batches.flat().join('')).toBe('abcd');
    expect(batches).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  it('waits while too much is unwritten', async () => {
    const block = out('x'.repeat(200 * 1024));
    let chunkCount = 0;
    async function* flood(): AsyncGenerator<OutputChunk, void> {
      for (; chunkCount < 10; chunkCount += 1) yield block;
    }
    let release = (): void => undefined;
    const storing = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { done } = startCapture(flood(), { store: async () => storing });
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(chunkCount).toBeLessThan(4);
    release();
    await done;
    expect(chunkCount).toBe(10);
  });

  it('includes the bytes that masking held back', async () => {
    const { batches, done } = startCapture(print(out('a')), {
      secrets: { mask: (_, received) => received, endMask: () => [{ stream: 'stdout', bytes: bytes('held') }] },
    });
    await done;
    expect(batches.flat()).toEqual(['a', 'held']);
  });

  it('is truncated at its limit, and the process is stopped', async () => {
    const limiter = new OutputLimiter(resolveLimits({ output_bytes: 3 }), 0);
    const endless = print(out('ab'), out('cd'), new Promise<void>(() => {}));
    const { batches, stops, done } = startCapture(endless, { limiter });
    await done;
    expect(batches.flat().join('')).toBe('abc');
    expect(stops).toMatchObject([{ verdict: 'limit' }]);
  });

  it('stops the process if it stays silent', async () => {
    let stopped = (): void => undefined;
    const stops: Stop[] = [];
    const end = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const { done } = startCapture(print(out('a'), end), { idleMs: 30, stop: (stop) => (stops.push(stop), stopped()) });
    await done;
    expect(stops).toMatchObject([
      { verdict: 'timed_out', reason: expect.stringContaining('limits.idle_s (0.03 s)') as string },
    ]);
  });

  it('stops the process with an error if it cannot be written', async () => {
    let abandoned = (): void => undefined;
    const end = new Promise<void>((resolve) => {
      abandoned = resolve;
    });
    const store = async (_: readonly CapturedChunk[]): Promise<void> => Promise.reject(new Error('disk full'));
    const { done } = startCapture(print(out('a'), end, out('b')), { store, abandon: () => abandoned() });
    await expect(done).rejects.toThrow('disk full');
  });
});
