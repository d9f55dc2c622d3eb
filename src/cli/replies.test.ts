import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createMemoryIo } from './fixtures/memory-io.js';
import { createReplies } from './replies.js';

async function readAll(stdin: string): Promise<(string | undefined)[]> {
  const replies = createReplies(createMemoryIo({}, { stdin }));
  const read: (string | undefined)[] = [];
  do read.push(await replies.next());
  while (read.at(-1) !== undefined);
  return read;
}

describe('replies', () => {
  it('are the lines of standard input, one for each question', async () => {
    expect(await readAll('yes\r\nno, später\n')).toEqual(['yes', 'no, später', undefined]);
  });

  it('include a last line without a trailing newline', async () => {
    expect(await readAll('only')).toEqual(['only', undefined]);
  });

  it('can be empty lines', async () => {
    expect(await readAll('\n')).toEqual(['', undefined]);
  });

  it('end when the terminal is closed or the run has ended', async () => {
    const closed: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(new Error('EIO: i/o error, read')) }),
    };
    const io = { ...createMemoryIo({}), openStdin: () => ({ isTerminal: true, ...closed }) };
    expect(await createReplies(io).next()).toBeUndefined();

    const silent = new PassThrough();
    const close = (): void => void silent.destroy();
    const replies = createReplies({ ...io, openStdin: () => Object.assign(silent, { isTerminal: true, close }) });
    const next = replies.next();
    replies.close();
    expect(await next).toBeUndefined();
  });

  it('end immediately if standard input is empty', async () => {
    expect(await readAll('')).toEqual([undefined]);
  });
});
