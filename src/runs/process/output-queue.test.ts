import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputQueue } from './output-queue.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const ignoreFlow = (): void => undefined;

describe('the output queue', () => {
  it('passes a chunk to a waiting reader unchanged', async () => {
    const queue = new OutputQueue(ignoreFlow);
    const next = queue.read();
    const chunk = bytes('a');
    queue.push('stdout', chunk);
    expect(await next).toEqual({ stream: 'stdout', bytes: chunk });
  });

  it('merges chunks of one stream for a slow reader, and keeps the order of the streams', async () => {
    const queue = new OutputQueue(ignoreFlow);
    for (const [stream, text] of [
      ['stdout', 'a'],
      ['stdout', 'b'],
      ['stderr', 'c'],
      ['stdout', 'd'],
    ] as const) {
      queue.push(stream, bytes(text));
    }
    queue.end();
    const received: string[] = [];
    for await (const chunk of queue) received.push(`${chunk.stream}:${Buffer.from(chunk.bytes).toString()}`);
    expect(received).toEqual(['stdout:ab', 'stderr:c', 'stdout:d']);
  });

  it('pauses the process when it is full and resumes it when it is half empty', async () => {
    const flows: boolean[] = [];
    const queue = new OutputQueue((isFlowing) => flows.push(isFlowing));
    for (let count = 0; count < 4; count += 1) queue.push('stdout', new Uint8Array(64 * 1024));
    expect(flows).toEqual([false]);
    expect(queue.isFull).toBe(true);
    await queue.read();
    expect(flows).toEqual([false]);
    await queue.read();
    expect(flows).toEqual([false, true]);
  });

  it('pauses the process again when its reader falls behind a second time', async () => {
    const flows: boolean[] = [];
    const queue = new OutputQueue((isFlowing) => flows.push(isFlowing));
    for (let round = 0; round < 2; round += 1) {
      queue.push('stdout', new Uint8Array(300 * 1024));
      await queue.read();
    }
    expect(flows).toEqual([false, true, false, true]);
  });

  it('resumes the process when its reader stops', async () => {
    const flows: boolean[] = [];
    const queue = new OutputQueue((isFlowing) => flows.push(isFlowing));
    queue.push('stdout', new Uint8Array(300 * 1024));
    queue.abandon();
    queue.push('stdout', new Uint8Array(300 * 1024));
    expect(flows).toEqual([false, true]);
    expect(await queue.read()).toBeNull();
  });

  it('keeps unread output while its reader pauses', async () => {
    const queue = new OutputQueue(ignoreFlow);
    const next = queue.read();
    queue.pause();
    expect(await next).toBeNull();
    queue.push('stdout', bytes('a'));
    queue.end();
    expect([await queue.read(), queue.isPaused]).toEqual([null, true]);
    queue.resume();
    expect(await queue.read()).toEqual({ stream: 'stdout', bytes: bytes('a') });
    queue.pause();
    expect(queue.isPaused).toBe(false);
  });

  it('ends a waiting reader', async () => {
    const queue = new OutputQueue(ignoreFlow);
    const next = queue.read();
    queue.end();
    expect(await next).toBeNull();
  });

  it('returns every byte of each stream in order, whenever the reader starts', async () => {
    const step = fc.oneof(
      fc.record({ stream: fc.constantFrom('stdout' as const, 'stderr' as const), text: fc.string({ maxLength: 5 }) }),
      fc.constant('read' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const queue = new OutputQueue(ignoreFlow);
        const sent = { stdout: '', stderr: '' };
        const pulls: ReturnType<typeof queue.read>[] = [];
        for (const next of steps) {
          if (next === 'read') pulls.push(queue.read());
          else {
            queue.push(next.stream, bytes(next.text));
            sent[next.stream] += next.text;
          }
        }
        queue.end();
        const received: Record<string, string> = { stdout: '', stderr: '' };
        const keep = ({ stream, bytes: part }: { stream: string; bytes: Uint8Array }): void => {
          received[stream] += Buffer.from(part).toString();
        };
        for (const chunk of await Promise.all(pulls)) if (chunk !== null) keep(chunk);
        for await (const chunk of queue) keep(chunk);
        expect(received).toEqual(sent);
      }),
    );
  });
});
