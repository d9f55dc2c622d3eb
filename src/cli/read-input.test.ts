import { describe, expect, it } from 'vitest';
import { createMemoryIo } from './fixtures/memory-io.js';
import { MisuseError } from './failure.js';
import { readInput } from './read-input.js';

const encode = (text: string) => new TextEncoder().encode(text);

describe('readInput', () => {
  it('reads the given file', async () => {
    const io = createMemoryIo({ 'a.txt': 'grüße 😀' }, { stdin: 'not this' });
    expect(await readInput('a.txt', 100, io)).toEqual({ text: 'grüße 😀' });
  });

  it('reads standard input by default, and for "-"', async () => {
    const io = createMemoryIo({}, { stdin: 'piped' });
    expect(await readInput(undefined, 100, io)).toEqual({ text: 'piped' });
    expect(await readInput('-', 100, io)).toEqual({ text: 'piped' });
    expect(io.printed.stderr).toBe('');
  });

  it('prints a hint at a terminal while it waits for input', async () => {
    const io = createMemoryIo({}, { stdin: 'typed', isTerminal: true });
    await readInput(undefined, 100, io);
    expect(io.printed.stderr).toContain('Ctrl-D');
  });

  it('strips a byte order mark', async () => {
    expect(await readInput('a', 100, createMemoryIo({ a: encode('\uFEFF{}') }))).toEqual({ text: '{}' });
  });

  it('replaces invalid UTF-8', async () => {
    const io = createMemoryIo({ a: Uint8Array.of(0x7b, 0xff, 0xc3, 0x7d) });
    expect(await readInput('a', 100, io)).toEqual({ text: '{\uFFFD\uFFFD}' });
  });

  it('accepts input up to the limit, and stops reading beyond it', async () => {
    let reads = 0;
    const endless = {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          reads += 1;
          yield encode('0123456789');
        }
      },
    };
    const io = { ...createMemoryIo({ a: '0123456789' }), openStdin: () => ({ isTerminal: false, ...endless }) };
    expect(await readInput('a', 10, io)).toEqual({ text: '0123456789' });
    expect(await readInput(undefined, 1000, io)).toEqual({ tooLong: true });
    expect(reads).toBe(101);
  });

  it('reports which file cannot be read, and why', async () => {
    await expect(readInput('gone.txt', 10, createMemoryIo({}))).rejects.toEqual(
      new MisuseError('Cannot read "gone.txt": no such file. Check the path.'),
    );
    const broken: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(new Error('EIO: i/o error, read')) }),
    };
    const io = { ...createMemoryIo({}), openStdin: () => ({ isTerminal: false, ...broken }) };
    await expect(readInput('-', 10, io)).rejects.toThrow('Cannot read "standard input": EIO');
  });
});
