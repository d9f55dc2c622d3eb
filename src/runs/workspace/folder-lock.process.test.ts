import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeHolder, tryClaim, lockFolder } from './folder-lock.js';

const HOLDER = new URL('fixtures/lock-holder.mjs', import.meta.url);

async function makeFolders(): Promise<{ locks: string; work: string }> {
  const folder = await makeFolder({ 'work/file': '' });
  return { locks: join(folder, 'locks'), work: join(folder, 'work') };
}

describe('lockFolder', () => {
  it('rejects a folder used by another run until that run has ended', async () => {
    const { locks, work } = await makeFolders();
    const lock = await lockFolder(locks, work);
    await expect(lockFolder(locks, work)).rejects.toMatchObject({
      code: 'WORKING_FOLDER_BUSY',
      message: expect.stringContaining(work),
    });
    await lock.release();
    await lock.release();
    await (await lockFolder(locks, work)).release();
  });

  it('leaves nothing behind', async () => {
    const { locks, work } = await makeFolders();
    await (await lockFolder(locks, work)).release();
    expect(await readdir(locks)).toEqual([]);
  });

  it('serves waiting callers in order', async () => {
    const { locks, work } = await makeFolders();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_value, index) => {
        const lock = await lockFolder(locks, work, { wait: true });
        inside += 1;
        expect(inside).toBe(1);
        order.push(index);
        await turn();
        inside -= 1;
        await lock.release();
      }),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_value, index) => index));
  });

  it('stops waiting on abort, and the next caller still gets the lock', async () => {
    const { locks, work } = await makeFolders();
    const first = await lockFolder(locks, work);
    const abortController = new AbortController();
    const abortedWait = lockFolder(locks, work, { wait: true, signal: abortController.signal });
    const patient = lockFolder(locks, work, { wait: true });
    const reason = new Error('enough');
    abortController.abort(reason);
    await expect(abortedWait).rejects.toBe(reason);
    await first.release();
    await (await patient).release();
  });

  it('locks different folders independently, and resolves links', async () => {
    const { locks, work } = await makeFolders();
    await mkdir(join(work, 'inside'));
    await symlink(work, join(work, 'link'));
    const lock = await lockFolder(locks, work);
    await (await lockFolder(locks, join(work, 'inside'))).release();
    await expect(lockFolder(locks, join(work, 'link'))).rejects.toMatchObject({ code: 'WORKING_FOLDER_BUSY' });
    await lock.release();
  });

  it('names the run that holds the lock', async () => {
    const { locks, work } = await makeFolders();
    const lock = await lockFolder(locks, work, { run: 'R1' });
    const waits: string[] = [];
    const waiting = lockFolder(locks, work, { wait: true, onBusy: (holder) => waits.push(describeHolder(holder)) });
    expect(waits).toEqual([expect.stringMatching(/^run R1 \(started 20.*Z\)$/u)]);
    await expect(lockFolder(locks, work)).rejects.toMatchObject({
      message: expect.stringContaining('run R1 (started'),
    });
    const claims = join(locks, (await readdir(locks))[0] ?? '');
    expect(await tryClaim(claims)).toMatchObject({ heldBy: { pid: process.pid, run: 'R1' } });
    await lock.release();
    await (await waiting).release();
  });

  it('rejects a missing folder', async () => {
    const { locks, work } = await makeFolders();
    await expect(lockFolder(locks, join(work, 'missing'))).rejects.toMatchObject({ code: 'WORKING_FOLDER_UNREADABLE' });
  });
});

describe('lockFolder across processes', { timeout: 30_000 }, () => {
  async function startHolder(locks: string, work: string): Promise<ChildProcess> {
    const holder = (await bundleProgram(HOLDER)).start([locks, work]);
    await once(holder.stdout, 'data');
    return holder;
  }

  it('locks a folder for one process, until that process is killed', async () => {
    const { locks, work } = await makeFolders();
    const holder = await startHolder(locks, work);
    await expect(lockFolder(locks, work)).rejects.toMatchObject({
      code: 'WORKING_FOLDER_BUSY',
      message: expect.stringContaining(String(holder.pid)),
    });
    const waiting = lockFolder(locks, work, { wait: true });
    holder.kill('SIGKILL');
    await (await waiting).release();
    expect(await readdir(locks)).toEqual([]);
  });
});

describe('claims', () => {
  it('created concurrently by many callers succeed for at most one', async () => {
    const { locks } = await makeFolders();
    const claims = await Promise.all(Array.from({ length: 20 }, async () => tryClaim(locks)));
    expect(claims.filter((claim) => !('heldBy' in claim)).length).toBeLessThanOrEqual(1);
  });

  it.runIf(process.platform === 'linux')('from another container expire without a heartbeat', async () => {
    const { locks } = await makeFolders();
    await mkdir(locks);
    const foreign = join(locks, `1.${Buffer.from('other-boot/1/1').toString('base64url')}.x`);
    await writeFile(foreign, '');
    expect(await tryClaim(locks)).toEqual({ heldBy: { pid: 1, run: null, since: null } });
    await utimes(foreign, 0, 0);
    expect(await tryClaim(locks)).not.toHaveProperty('heldBy');
  });

  it('are ignored if no process could have created them', async () => {
    const { locks } = await makeFolders();
    await mkdir(locks);
    await writeFile(join(locks, 'no claim'), '');
    expect(await tryClaim(locks)).not.toHaveProperty('heldBy');
  });
});
