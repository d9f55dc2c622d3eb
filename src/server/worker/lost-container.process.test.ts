import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { TEST_IMAGE, probePodman } from '../../../test/install-podman.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { startProgram } from '../../store/contract/fixtures/start-program.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { containerWrappers, WORKER_TOKEN } from './fixtures/container-order.js';

const PROGRAM = new URL('./fixtures/container-worker.js', import.meta.url);
const canRunContainers = (await probePodman()).works;

function podman(...args: readonly string[]): string {
  return execFileSync('podman', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** A server, and workers on other hosts that reach its store, or only the server. */
async function openSite(source: 'database' | 'server') {
  const root = await realpath(await makeFolder({ 'repository/README.md': 'x' }));
  const database = `sqlite:${join(root, 'sluice.db')}`;
  const server = await openListeningServer({
    database,
    wrappers: containerWrappers,
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN }] },
    work: { leaseMs: 1500 },
  });
  const program = await bundleProgram(PROGRAM);
  const startWorker = async (name: string, host: string, type: string) => {
    const from = source === 'database' ? database : server.url;
    const { child, started } = startProgram(program, [from, join(root, name), host, TEST_IMAGE, type]);
    await started;
    return child;
  };
  const repository = join(root, 'repository');
  const readStarted = async () =>
    (await readFile(join(repository, 'started.txt'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const submit = async () =>
    server.lead.submit({
      issue_ref: 'acme/shop#1',
      role: 'backend',
      repo_dir: repository,
      worker: 'agent',
      instructions: 'Work.',
      expects: 'report',
    });
  return { ...server, startWorker, readStarted, submit };
}

describe.runIf(canRunContainers)('an order in a container', () => {
  it.each(['server', 'database'] as const)(
    'whose worker (with a %s) was killed is finished on another host, once its container is gone, and without a human',
    async (source) => {
      const { startWorker, submit, readStarted, store } = await openSite(source);
      const lost = await startWorker('lost', hostname(), 'agent');
      const { order, run } = await submit();
      await expect.poll(readStarted).toEqual([order.run_id]);
      const exited = once(lost, 'exit');
      lost.kill('SIGKILL');
      await exited;
      expect(podman('ps', '--quiet', '--filter', `label=sluice.run=${run}`)).not.toBe('');

      // Another worker on the host executes nothing of this type, but can ask the container engine.
      await startWorker('beside', hostname(), 'nothing');
      await expect.poll(async () => (await store.findRun(run))?.state).toBe('ended');
      expect(podman('ps', '--all', '--quiet', '--filter', `label=sluice.run=${run}`)).toBe('');
      await startWorker('elsewhere', 'another-host', 'agent');
      await expect.poll(async () => (await store.findIssue(order.issue_ref))?.state).toBe('review');

      const orders = (await store.listOrders({ issueRef: order.issue_ref })).items.toReversed();
      expect(orders.map(({ decision }) => decision?.action)).toEqual(['needs-human', 'advance']);
      expect(await readStarted()).toEqual(orders.map((each) => each.order.run_id));
      expect((await store.listInbox({ open: true })).items).toEqual([]);
      const [item] = (await store.listInbox({})).items;
      expect(item?.resolution).toMatchObject({ action: 'retry', who: 'sluice (retries.worker_lost)' });
    },
  );

  it.each<[string, (container: string) => unknown]>([
    ['removed', (container) => podman('rm', '--force', '--time', '0', container)],
    ['killed', (container) => podman('kill', container)],
    ['stopped', (container) => podman('stop', container)],
    [
      'killed from outside',
      (container) => process.kill(Number(podman('inspect', '--format', '{{.State.Pid}}', container)), 'SIGKILL'),
    ],
  ])('that was %s under a living worker is executed again once, without a human', async (_, end) => {
    const { startWorker, submit, readStarted, store } = await openSite('server');
    await startWorker('worker', 'machine-a', 'agent');
    const { order, run } = await submit();
    await expect.poll(readStarted).toEqual([order.run_id]);
    end(podman('ps', '--quiet', '--filter', `label=sluice.run=${run}`));
    await expect.poll(async () => (await store.findIssue(order.issue_ref))?.state).toBe('review');
    expect((await store.findRun(run))?.result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'evicted' });
    expect(await readStarted()).toHaveLength(2);
    expect((await store.listInbox({ open: true })).items).toEqual([]);
  });
});
