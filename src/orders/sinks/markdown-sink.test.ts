import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { identifyProcess } from '../../runs/process/process-identity.js';
import { makeMessage } from './fixtures/message.js';
import { createMarkdownSink } from './markdown-sink.js';
import { formatMarker } from './sink.js';
import { describeSink } from './sink.contract.js';

const FILE = 'owner_repo_7.md';

async function start(files: Readonly<Record<string, string>> = {}) {
  const folder = await makeFolder(files);
  const sink = createMarkdownSink({ folder });
  const read = async () => readFile(join(folder, FILE), 'utf8');
  const arrived = async () => (await read()).split(/<!-- sluice:.* -->\n/).slice(0, -1);
  return { sink, folder, read, arrived };
}

describeSink('Markdown file', async () => start());

describe('createMarkdownSink', () => {
  const signal = AbortSignal.timeout(60_000);

  it('writes the comment before its marker, so readers see the comment first', async () => {
    const { sink, folder, read } = await start();
    const message = makeMessage();
    expect(await sink.send(message, signal)).toEqual({ deliveredTo: join(folder, FILE) });
    expect(await read()).toBe(`${message.body}\n\n${formatMarker(message)}\n`);
  });

  it('writes a message once, no matter how often it is sent', async () => {
    const { sink, read } = await start();
    await sink.send(makeMessage(), signal);
    const first = await read();
    await Promise.all([sink.send(makeMessage(), signal), sink.send(makeMessage(), signal)]);
    expect(await read()).toBe(first);
  });

  it('waits for another process that is writing the same comment, and does not write it again', async () => {
    const { sink, folder, read } = await start();
    const message = makeMessage();
    // Another process has read the file without the comment, and is paused before it writes.
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
    onTestFinished(() => void other.kill('SIGKILL'));
    const identity = await identifyProcess(other.pid ?? 0);
    const name = createHash('sha256').update(join(folder, FILE)).digest('hex').slice(0, 40);
    const claim = join(folder, '.locks', name);
    await mkdir(claim, { recursive: true });
    const started = Buffer.from(identity?.started ?? '').toString('base64url');
    await writeFile(join(claim, `${other.pid}.${started}.x`), '');
    await expect(sink.send(message, AbortSignal.timeout(50))).rejects.toMatchObject({ code: 'SINK_TIMED_OUT' });
    const canceled = new AbortController();
    setTimeout(() => canceled.abort('stopped'), 50);
    await expect(sink.send(message, canceled.signal)).rejects.toBe('stopped');
    await expect(read()).rejects.toThrow('ENOENT');
    // Its lock ends with the process; everything written by then counts.
    const sent = sink.send(message, signal);
    await writeFile(join(folder, FILE), `${message.body}\n\n${formatMarker(message)}\n`);
    other.kill('SIGKILL');
    await sent;
    expect((await read()).match(/sluice:/g)).toHaveLength(1);
  });

  it('creates the folder', async () => {
    const folder = join(await makeFolder({}), 'deep/comments');
    await createMarkdownSink({ folder }).send(makeMessage(), signal);
    expect(await readFile(join(folder, FILE), 'utf8')).toContain('## Summary');
  });

  it('completes a comment that a crash truncated, at every byte', async () => {
    const { sink, folder, read } = await start();
    const earlier = makeMessage({ id: 'earlier', trigger: 'workrun:earlier' });
    const message = makeMessage({ body: 'Role: a\nRole: a\nRole: b\n\nRole: a\n完成' });
    await sink.send(earlier, signal);
    const before = await read();
    await sink.send(message, signal);
    const complete = Buffer.from(await read());
    for (let length = Buffer.byteLength(before); length <= complete.length; length++) {
      await writeFile(join(folder, FILE), complete.subarray(0, length));
      await sink.send(message, signal);
      expect((await read()).replaceAll(/\n{2,}/g, '\n\n').trimEnd()).toBe(complete.toString('utf8').trimEnd());
    }
  });

  it('keeps text that people added to the file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom('R', 'o', 'l', 'e', ':', ' ', '\n', 'x') }), async (note) => {
        const { sink, read } = await start({ [FILE]: `${note}.` });
        await sink.send(makeMessage(), signal);
        expect((await read()).startsWith(`${note}.`)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('does not follow a link', async () => {
    const { sink, folder } = await start({ 'elsewhere.txt': 'untouched' });
    await symlink(join(folder, 'elsewhere.txt'), join(folder, FILE));
    await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ code: 'SINK_FILE_UNUSABLE' });
    expect(await readFile(join(folder, 'elsewhere.txt'), 'utf8')).toBe('untouched');
  });

  it('reports a folder in place of its file', async () => {
    const { sink, folder } = await start();
    await mkdir(join(folder, FILE));
    await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ code: 'SINK_FILE_UNUSABLE' });
  });

  it('finds its marker in a long file, even across chunk boundaries', async () => {
    for (const length of [262_100, 262_144, 262_150, 600_000]) {
      const message = makeMessage();
      const longEntry = `${'x'.repeat(length)}\n${formatMarker(message)}\n`;
      const { sink, read } = await start({ [FILE]: longEntry });
      await sink.send(message, signal);
      expect(await read()).toBe(longEntry);
    }
  });
});
