import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunFolderWarning } from '../run-folder-error.js';
import { lines, makeRunFolder } from '../../../base/files/fixtures/make-run-folder.js';
import { openRunFolder } from '../open-run-folder.js';
import { readAttemptChunks } from './attempt-chunks.js';
import type { Chunk } from './attempt-chunks.js';

import fc from 'fast-check';

/** Chunks as `stream@ms:text`, and the codes of the warnings. */
async function read(files: Readonly<Record<string, string>>): Promise<{ chunks: string[]; warnings: string[] }> {
  const folder = await openRunFolder(await makeRunFolder({ 'meta.1.json': '{}', ...files }));
  const warnings: RunFolderWarning[] = [];
  const chunks: Chunk[] = [];
  for await (const chunk of readAttemptChunks(folder, 1, (warning) => warnings.push(warning))) chunks.push(chunk);
  return { chunks: chunks.map(show), warnings: warnings.map((warning) => warning.code) };
}

function show({ ms, stream, bytes }: Chunk): string {
  return `${stream}@${ms}:${Buffer.from(bytes).toString()}`;
}

describe('readAttemptChunks', () => {
  test('interleaves the streams according to the timing', async () => {
    expect(
      await read({
        'stdout.1.log': 'aabb',
        'stderr.1.log': 'ee',
        'timing.1.jsonl': lines(
          { ms: 1, stream: 'stdout', offset: 0, bytes: 2 },
          { ms: 2, stream: 'stderr', offset: 0, bytes: 2 },
          { ms: 3, stream: 'stdout', offset: 2, bytes: 2 },
        ),
      }),
    ).toEqual({ chunks: ['stdout@1:aa', 'stderr@2:ee', 'stdout@3:bb'], warnings: [] });
  });

  test('reads stdout, stderr and terminal one after the other without timing, and warns', async () => {
    expect(await read({ 'stdout.1.log': 'out', 'stderr.1.log': 'err', 'pty-output.1.log': 'pty' })).toEqual({
      chunks: ['stdout@null:out', 'stderr@null:err', 'pty@null:pty'],
      warnings: ['INTERLEAVING_UNKNOWN'],
    });
  });

  test('does not warn about an attempt that printed nothing', async () => {
    expect(await read({})).toEqual({ chunks: [], warnings: [] });
  });

  test('reads a terminal without timing at the end, and does not warn', async () => {
    expect(
      await read({
        'stdout.1.log': 'out',
        'pty-output.1.log': 'pty',
        'timing.1.jsonl': lines({ ms: 1, stream: 'stdout', offset: 0, bytes: 3 }),
      }),
    ).toEqual({ chunks: ['stdout@1:out', 'pty@null:pty'], warnings: [] });
  });

  test('uses timing of more bytes than the file has as far as it fits', async () => {
    expect(
      await read({
        'stdout.1.log': 'abcd',
        'timing.1.jsonl': lines(
          { ms: 1, stream: 'stdout', offset: 0, bytes: 3 },
          { ms: 2, stream: 'stdout', offset: 3, bytes: 90 },
        ),
      }),
    ).toEqual({ chunks: ['stdout@1:abc', 'stdout@2:d'], warnings: [] });
  });

  test('warns about bytes without timing and invalid timing lines', async () => {
    expect(
      await read({
        'stdout.1.log': 'abcd',
        'stderr.1.log': 'e',
        'timing.1.jsonl': `nonsense\n\n${lines({ ms: 1, stream: 'stdout', offset: 0, bytes: 3 })}`,
      }),
    ).toEqual({ chunks: ['stdout@1:abc', 'stdout@null:d', 'stderr@null:e'], warnings: ['TIMING_INCONSISTENT'] });
  });

  test('reads each stream completely, once and in order, whatever the timing contains', async () => {
    const entry = fc.record({
      ms: fc.nat(100),
      stream: fc.constantFrom('stdout', 'stderr', 'pty'),
      offset: fc.nat(12),
      bytes: fc.nat(12),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
        const logs = { stdout: 'abcdefgh', stderr: '12345', pty: 'XYZ' };
        const { chunks } = await read({
          'stdout.1.log': logs.stdout,
          'stderr.1.log': logs.stderr,
          'pty-output.1.log': logs.pty,
          'timing.1.jsonl': lines(...entries),
        });
        for (const [stream, log] of Object.entries(logs)) {
          const streamChunks = chunks.filter((chunk) => chunk.startsWith(`${stream}@`));
          expect(streamChunks.map((chunk) => chunk.slice(chunk.indexOf(':') + 1)).join('')).toBe(log);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('following', () => {
  test('yields bytes as they arrive and the rest when the attempt has ended', async () => {
    const dir = await makeRunFolder({
      'stdout.1.log': 'ab',
      'timing.1.jsonl': lines({ ms: 1, stream: 'stdout', offset: 0, bytes: 2 }),
    });
    const folder = await openRunFolder(dir);
    let hasEnded = false;
    const following = { signal: new AbortController().signal, hasEnded: async () => hasEnded };
    const chunks = readAttemptChunks(folder, 1, () => undefined, following);
    expect(show((await chunks.next()).value as Chunk)).toBe('stdout@1:ab');
    const next = chunks.next();
    await appendFile(join(dir, 'stdout.1.log'), 'cd');
    await appendFile(join(dir, 'timing.1.jsonl'), lines({ ms: 5, stream: 'stdout', offset: 2, bytes: 2 }));
    expect(show((await next).value as Chunk)).toBe('stdout@5:cd');
    await writeFile(join(dir, 'stderr.1.log'), 'late');
    hasEnded = true;
    expect(show((await chunks.next()).value as Chunk)).toBe('stderr@null:late');
    expect((await chunks.next()).done).toBe(true);
  });

  test('yields the existing bytes without timing', async () => {
    const folder = await openRunFolder(await makeRunFolder({ 'stdout.1.log': 'ab' }));
    const following = { signal: new AbortController().signal, hasEnded: async () => false };
    const chunks = readAttemptChunks(folder, 1, () => undefined, following);
    expect(show((await chunks.next()).value as Chunk)).toBe('stdout@null:ab');
    await chunks.return(undefined);
  });

  test('stops on abort', async () => {
    const folder = await openRunFolder(await makeRunFolder({ 'stdout.1.log': '' }));
    const stop = new AbortController();
    const chunks = readAttemptChunks(folder, 1, () => undefined, { signal: stop.signal, hasEnded: async () => false });
    const next = chunks.next();
    stop.abort();
    expect((await next).done).toBe(true);
  });
});
