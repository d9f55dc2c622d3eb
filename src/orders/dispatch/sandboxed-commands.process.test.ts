import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { canSandbox } from '../../runs/scenarios/fixtures/make-sandbox-site.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

const READ = ['sh', '-c', 'cat "$@" 2>/dev/null; true', 'sh'] as const;

describe.runIf(canSandbox)('the sandbox of a worker', () => {
  it('shows a queued run no file outside `roots`, whatever its arguments name', async () => {
    const { data, store, start } = await setUpWorker();
    const outside = await makeFolder({ 'secret.txt': 'the secret' });
    const command = [...READ, join(outside, 'secret.txt'), join(data, 'sluice.db')];
    await writeFile(join(data, 'sluice.db'), 'the database');
    const spec = { engine: 'command', command, workdir: join(data, 'repository'), sandbox: 'required' } as const;
    const run = async (id: string) => {
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
      await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
      return (await store.findRun(id))?.result;
    };
    const worker = start();
    expect(await run('r1')).toMatchObject({ status: 'success', sandbox: { used: true } });
    expect((await run('r2'))?.text).toBeUndefined();
    await worker.stop();
    start({ runs: { data, sandbox: { roots: [outside] } } });
    expect((await run('r3'))?.text).toBe('the secret');
  });

  it('starts no queued run whose folder was replaced by a link out of `roots` since it was requested', async () => {
    const { data, store, start } = await setUpWorker();
    const outside = await makeFolder({ 'secret.txt': 'the secret' });
    const roots = await makeFolder({ 'other/secret.txt': 'of the root' });
    const run = async (id: string, target: string) => {
      await rm(join(roots, 'work'), { force: true });
      await symlink(target, join(roots, 'work'));
      const spec = { engine: 'command', command: ['cat', 'secret.txt'], workdir: join(roots, 'work') } as const;
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
      await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
      return (await store.findRun(id))?.result;
    };
    start({ runs: { data, sandbox: { roots: [roots] } } });
    const refused = await run('r1', outside);
    expect(refused).toMatchObject({ status: 'failed' });
    expect(refused?.error?.message).toContain('was replaced by a link');
    expect(await run('r2', join(roots, 'other'))).toMatchObject({ status: 'success', text: 'of the root' });
  });

  it('shows an order what its wrapper names, and nothing next to it', async () => {
    const outside = await makeFolder({ 'agent.sh': `cat "$(dirname "$0")/part.txt"`, 'part.txt': 'the part' });
    const script = join(outside, 'agent.sh');
    const base = { type: 'script', command: ['sh', script], sandbox: 'required' } as const;
    const wrappers = { bare: base, whole: { ...base, mounts: [join(outside, 'part.txt')] } };
    const { store, start, submit, settled } = await setUpWorker({ lead: { wrappers } });
    start();
    const run = async (worker: string) => {
      const order = await submit(`local#${worker}`, {}, { worker });
      await settled(order);
      return (await store.findRun(order.run))?.result;
    };
    const bare = await run('bare');
    expect(bare?.text).toBeUndefined();
    expect(bare?.error?.message).toContain('Add it to wrappers.bare.mounts.');
    expect((await run('whole'))?.text).toBe('the part');
  });
});
