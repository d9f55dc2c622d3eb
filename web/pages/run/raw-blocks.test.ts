import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ByteSpan } from './byte-ranges.js';
import { BLOCK_BYTES, createRawBlocks, BYTES_BEFORE, decodeSpan } from './raw-bytes.js';

const stdout = { attempt_number: 1, stream: 'stdout' } as const;
const row = (byte_from: number, byte_to: number, isLast = false) => ({ ...stdout, byte_from, byte_to, isLast });
const nextTask = async (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 0);
  });

/** Serves these bytes, and records the requested spans. */
function serve(bytes: Uint8Array) {
  const requested: ByteSpan[] = [];
  let changes = 0;
  const blocks = createRawBlocks(
    async (span) => {
      requested.push(span);
      return bytes.slice(span.byte_from, span.byte_to);
    },
    () => (changes += 1),
  );
  return { requested, blocks, changes: () => changes };
}

test('text is fetched in blocks, each only once even if many rows are in it', async () => {
  const { requested, blocks, changes } = serve(new TextEncoder().encode('first\nsecond\n'));
  expect(blocks.text(row(0, 6))).toEqual({ state: 'loading' });
  expect(blocks.text(row(6, 13))).toEqual({ state: 'loading' });
  await nextTask();
  expect(changes()).toBe(1);
  expect(blocks.text(row(0, 6))).toEqual({ state: 'loaded', text: 'first\n' });
  expect(blocks.text(row(6, 13, true))).toEqual({ state: 'loaded', text: 'second\n' });
  expect(requested).toEqual([{ ...stdout, byte_from: 0, byte_to: BLOCK_BYTES }]);
});

test('fetches only the start of a long row', async () => {
  const { requested, blocks } = serve(new Uint8Array(BLOCK_BYTES * 3).fill(0x61));
  blocks.text(row(0, BLOCK_BYTES * 3), 10);
  await nextTask();
  expect(blocks.text(row(0, BLOCK_BYTES * 3), 10)).toEqual({ state: 'loaded', text: 'a'.repeat(10) });
  expect(requested).toHaveLength(1);
});

test('an incomplete block is fetched again when its stream has grown', async () => {
  let length = 3;
  const blocks = createRawBlocks(
    async () => new TextEncoder().encode('abcdef').subarray(0, length),
    () => undefined,
  );
  blocks.text(row(0, 3, true));
  await nextTask();
  expect(blocks.text(row(0, 3, true))).toMatchObject({ text: 'abc' });
  length = 6;
  expect(blocks.text(row(3, 6, true))).toEqual({ state: 'loading' });
  await nextTask();
  expect(blocks.text(row(3, 6, true))).toMatchObject({ text: 'def' });
});

test('an unreadable stream reports why once, is not requested again, and is retried on request', async () => {
  let fails = true;
  let requested = 0;
  const blocks = createRawBlocks(
    async () => {
      requested += 1;
      if (fails) throw new Error('elsewhere');
      return new TextEncoder().encode('abc');
    },
    () => undefined,
  );
  const distantRow = row(BLOCK_BYTES * 5, BLOCK_BYTES * 5 + 3);
  blocks.text(row(0, 3, true));
  await nextTask();
  expect([blocks.text(row(0, 3, true)), blocks.text(distantRow)]).toEqual([
    { state: 'unreadable' },
    { state: 'unreadable' },
  ]);
  expect(blocks.problems()).toEqual(['elsewhere']);
  await nextTask();
  expect(requested).toBe(1);
  fails = false;
  blocks.retry();
  expect(blocks.problems()).toEqual([]);
  blocks.text(row(0, 3, true));
  await nextTask();
  expect(blocks.text(row(0, 3, true))).toMatchObject({ text: 'abc' });
});

test('stops requesting the missing bytes of a truncated file, and shows the others', async () => {
  const { requested, blocks } = serve(new TextEncoder().encode('abc'));
  for (let index = 0; index < 10; index += 1) {
    blocks.text(row(0, 6));
    await nextTask();
  }
  expect(blocks.text(row(0, 6))).toEqual({ state: 'truncated' });
  expect(blocks.text(row(0, 3))).toMatchObject({ text: 'abc' });
  expect(requested).toHaveLength(2);
  blocks.retry();
  expect(blocks.text(row(0, 6))).toEqual({ state: 'loading' });
});

test('scrolling past a thousand blocks fetches only the last few of them', async () => {
  const { requested, blocks } = serve(new Uint8Array(BLOCK_BYTES * 1000));
  for (let index = 0; index < 1000; index += 1) blocks.text(row(index * BLOCK_BYTES, index * BLOCK_BYTES + 5));
  for (let index = 0; index < 40; index += 1) await nextTask();
  expect(requested.length).toBeLessThan(40);
  expect(requested.some(({ byte_from }) => byte_from === 999 * BLOCK_BYTES)).toBe(true);
});

test('adjacent rows add up to the whole stream, no matter where rows and blocks end', async () => {
  const text = 'aé€👍'.repeat(BLOCK_BYTES / 4);
  const bytes = new TextEncoder().encode(text);
  const { blocks } = serve(bytes);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: BLOCK_BYTES - 20, max: BLOCK_BYTES + 20 }), { maxLength: 6 }),
      async (cuts) => {
        const edges = [...new Set([BLOCK_BYTES - 30, ...cuts, BLOCK_BYTES + 30])].sort((a, b) => a - b);
        const read = (): string => {
          let decoded = '';
          for (let index = 0; index + 1 < edges.length; index += 1) {
            const rowText = blocks.text(row(edges[index] ?? 0, edges[index + 1] ?? 0));
            decoded += rowText.state === 'loaded' ? rowText.text : '?';
          }
          return decoded;
        };
        read();
        await nextTask();
        await nextTask();
        expect(text).toContain(read());
        expect(read()).not.toContain('?');
      },
    ),
    { numRuns: 20 },
  );
});

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes in chunks split at the cuts. */
function decodeCut(bytes: Uint8Array, cuts: readonly number[]): string {
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  let text = '';
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const from = edges[index] ?? 0;
    const to = edges[index + 1] ?? 0;
    const before = Math.min(BYTES_BEFORE, from);
    const chunk = bytes.subarray(from - before, to);
    text += decodeSpan(chunk, before, to === bytes.length);
  }
  return text;
}

test('a character on a boundary belongs to the next span', () => {
  const bytes = new TextEncoder().encode('a€b');
  expect(decodeSpan(bytes.subarray(0, 2), 0, false)).toBe('a');
  expect(decodeSpan(bytes, 2, true)).toBe('€b');
});

test('the decoded chunks add up to the complete text, no matter where it is split', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '€', '👍', '\ufeff'), { maxLength: 30 })
    .map((rowText) => new TextEncoder().encode(rowText.join('')));
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (bytes, cuts) => {
      expect(decodeCut(bytes, cuts)).toBe(decoder.decode(bytes));
    }),
  );
});

test('invalid bytes are replaced the same way in chunks as in the complete text', () => {
  const broken = fc.array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0xff), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(broken, fc.array(fc.nat()), (list, cuts) => {
      const bytes = Uint8Array.from([0x41, ...list]);
      expect(decodeCut(bytes, cuts)).toBe(decoder.decode(bytes));
    }),
  );
});
