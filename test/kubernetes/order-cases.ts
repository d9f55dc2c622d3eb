import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startPlacing, waitForOrder } from '../../src/orders/dispatch/index.js';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { openListeningServer } from '../../src/server/fixtures/open-listening-server.js';
import { makeFolder } from '../temporary-folder.js';
import { makeNamespace, openPlacement } from './test-cluster.js';
import type { TestNode } from './test-node.js';

/** An agent that waits while the file `wait` exists, records that it worked, and writes its result. */
const createAgent = (folder: string): string => `
echo "$SLUICE_ISSUE_REF started" >> ${folder}/effects
if mv ${folder}/wait ${folder}/waited 2> /dev/null; then sleep 600; fi
echo work > "$SLUICE_RUN_ID.txt"
env > ${folder}/environment
echo "$SLUICE_ISSUE_REF done" >> ${folder}/effects
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \\
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

/** A server that places orders in a new namespace, and the files that its agents write. */
async function openSite(admin: Cluster) {
  const folder = await makeFolder({ effects: '' });
  const namespace = await makeNamespace(admin);
  const placement = await openPlacement(namespace, { worker_image: 'sluice:1', image: 'agents:1', ttl_s: 3 });
  const leaseMs = 5000;
  const site = await openListeningServer({
    wrappers: {
      placed: {
        type: 'script',
        command: ['/bin/sh', '-c', createAgent(folder)],
        placement: 'kubernetes',
        sandbox: 'required',
      },
    },
    settings: { tokens: [{ name: 'fleet', scopes: ['worker'], value: 'a-worker-token-with-32-characters' }] },
    work: { leaseMs },
  });
  const { store, lead, data, work, url } = site;
  const createRunToken = () => site.context.guard.createRunToken();
  const placing = startPlacing({ store, lead, data, placements: [placement], server: url, createRunToken, leaseMs });
  onTestFinished(async () => placing.stop());
  const repo_dir = work;
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repo_dir, ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
  const submit = async (issue_ref: string) => {
    const request = { issue_ref, role: 'backend', repo_dir, worker: 'placed', instructions: 'Work.' };
    return (await lead.submit(request)).order;
  };
  const readEffects = async () => (await readFile(join(folder, 'effects'), 'utf8')).trim().split('\n');
  return { ...site, folder, namespace, submit, readEffects };
}

/** Orders in pods, executed by the built command. */
export function describeOrders(getAdmin: () => Cluster, getNode: () => TestNode): void {
  describe('orders on Kubernetes', () => {
    it('are executed in pods, each once, with their isolation as evidence, and leave nothing behind', async () => {
      const { store, submit, readEffects, namespace, folder } = await openSite(getAdmin());
      const orders = await Promise.all(['acme/shop#1', 'acme/shop#2', 'acme/shop#3'].map(submit));
      for (const { issue_ref: issueRef, run_id: runId } of orders) {
        const record = await waitForOrder(store, { issueRef, runId });
        expect(record?.decision).toMatchObject({ action: 'advance' });
        const run = record?.run === undefined ? undefined : await store.findRun(record.run);
        expect(run?.result?.sandbox).toMatchObject({
          used: true,
          engine: expect.stringContaining('kubernetes') as unknown,
        });
      }
      expect((await readEffects()).toSorted()).toEqual(
        orders.flatMap(({ issue_ref }) => [`${issue_ref} done`, `${issue_ref} started`]),
      );
      expect(await readFile(join(folder, 'environment'), 'utf8')).not.toMatch(/slr_|TOKEN/);
      await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    });

    it('whose pod is evicted are done by the next one, without a person and not twice', async () => {
      const { store, submit, readEffects, namespace, folder } = await openSite(getAdmin());
      await writeFile(join(folder, 'wait'), '');
      const { issue_ref: issueRef, run_id: runId } = await submit('acme/shop#1');
      await expect.poll(readEffects).toEqual(['acme/shop#1 started']);
      const [pod = ''] = getNode().running.filter((name) => name.startsWith('sluice-'));
      const [job = ''] = (await namespace.listLeftovers()).filter((name) => name.startsWith('jobs/'));
      expect(pod).toContain(job.slice('jobs/'.length));
      await getNode().evict(pod);
      const lost = await waitForOrder(store, { issueRef, runId });
      const run = await store.findRun(lost?.run ?? '');
      expect(run?.result?.error).toMatchObject({
        code: 'PLACEMENT_FAILED',
        cause: 'evicted',
        message: expect.stringContaining('low on resource') as unknown,
      });
      await expect.poll(async () => (await store.findIssue(issueRef))?.state).toBe('review');
      expect(await readEffects()).toEqual(['acme/shop#1 started', 'acme/shop#1 started', 'acme/shop#1 done']);
      await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    });
  });
}
