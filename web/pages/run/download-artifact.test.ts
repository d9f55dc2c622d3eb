import { expect, test } from 'vitest';
import { describeSize, isBinary, chooseFileName, readArtifactBytes } from './artifact.js';

test('reads a file in chunks to its end, byte for byte', async () => {
  const file = Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 251);
  const ranges: string[] = [];
  const bytes = await readArtifactBytes('01', 'a b.bin', file.length, async (address, range) => {
    ranges.push(range);
    expect(address).toBe('/v1/runs/01/artifact?path=a+b.bin');
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range) ?? [];
    return new Response(file.slice(Number(from), Number(to) + 1), { status: 206 });
  });
  expect(ranges).toEqual(['bytes=0-1048575', 'bytes=1048576-2097151', 'bytes=2097152-2499999']);
  expect(Buffer.compare(bytes, file)).toBe(0);
});

test('a file that became shorter is an error, not a shorter file', async () => {
  const cut = readArtifactBytes('01', 'a', 10, async () => new Response(new Uint8Array(0), { status: 416 }));
  await expect(cut).rejects.toThrow('Cannot read the complete file');
});

test.each([
  ['dist/app.zip', 'app.zip'],
  ['a\\b\u202Egnp.exe', 'b_gnp.exe'],
  ['..', 'file'],
  ['', 'file'],
  ['x'.repeat(300), 'x'.repeat(120)],
])('%j is saved as %j', (path, expected) => {
  expect(chooseFileName(path)).toBe(expected);
});

test.each([
  ['plain text\n', false],
  ['Grüße, 你好 \uFFFD in a long text that is otherwise fine', false],
  ['\uFFFDPNG\r\n\u001A\n\0\0\0\rIHDR', true],
  ['PK\u0003\u0004\uFFFD\uFFFD\uFFFD', true],
  ['', false],
])('%j is binary: %s', (text, expected) => {
  expect(isBinary(text)).toBe(expected);
});

test('a preview reports whether the file is longer', () => {
  expect(describeSize(1024 * 1024)).toBe('1,048,576 bytes in total');
  expect(describeSize(3_000_000)).toBe('3,000,000 bytes in total; the preview ends after the first MiB');
});
