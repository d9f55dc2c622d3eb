import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readLastAttempt } from './audit-files.js';

const joinText = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describe('readLastAttempt', () => {
  it('reads the last output of the last attempt, and its command', async () => {
    const dir = await makeFolder({
      '.audit/stdout.1.log': 'the first',
      '.audit/stdout.2.log': 'the second attempt',
      '.audit/stderr.2.log': 'oops',
      '.audit/meta.2.json': '{"command": ["worker", "-x"], "version": "1.2", "started_at": "2026-11-15T08:00:00.000Z"}',
    });
    const attempt = await readLastAttempt(dir, 7);
    expect(joinText(attempt.stdout)).toBe('attempt');
    expect(joinText(attempt.stderr)).toBe('oops');
    expect(attempt).toMatchObject({ command: ['worker', '-x'], version: '1.2' });
  });

  it('uses terminal output if no other output exists', async () => {
    const dir = await makeFolder({ '.audit/pty-output.1.log': 'typed' });
    expect(joinText((await readLastAttempt(dir, 100)).stdout)).toBe('typed');
  });

  it('is empty for a folder without a run, and for a missing folder', async () => {
    const dir = await makeFolder({});
    for (const folder of [dir, join(dir, 'gone')]) {
      expect(await readLastAttempt(folder, 100)).toMatchObject({ command: [], version: null });
    }
  });

  it('does not follow links, and ignores folders in place of files', async () => {
    const dir = await makeFolder({ secret: 'do not read', '.audit/stderr.1.log': 'seen', '.audit/meta.1.json': 'no' });
    await symlink(join(dir, 'secret'), join(dir, '.audit/stdout.1.log'));
    await mkdir(join(dir, '.audit/pty-output.1.log'));
    const attempt = await readLastAttempt(dir, 100);
    expect([joinText(attempt.stdout), joinText(attempt.stderr)]).toEqual(['', 'seen']);
  });
});
