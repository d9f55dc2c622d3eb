import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createJsonLogger } from '../../src/base/index.js';
import { startPlacing, waitForOrder } from '../../src/orders/dispatch/index.js';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import type { KubernetesSettings } from '../../src/orders/placement/kubernetes/settings.js';
import { openListeningServer } from '../../src/server/fixtures/open-listening-server.js';
import type { Store } from '../../src/store/index.js';
import type { WorkOrder } from '../../src/store/records/index.js';
import { makeFolder } from '../temporary-folder.js';
import { makeNamespace, openPlacement } from './test-cluster.js';

/** An agent that waits while its pipe exists, records that it worked, and writes its result. */
const createAgent = (folder: string): string => `
echo "$SLUICE_ISSUE_REF started" >> ${folder}/effects
pipe="${folder}/hold-\${SLUICE_ISSUE_REF##*#}"
if [ -p "$pipe" ]; then cat "$pipe"; fi
echo work > "$SLUICE_RUN_ID.txt"
env > ${folder}/environment
echo "$SLUICE_ISSUE_REF done" >> ${folder}/effects
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \\
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

interface SiteOptions {
  readonly settings?: KubernetesSettings;
  readonly leaseMs?: number;
  /** Servers that place at the same time, as when one was stalled for longer than its lease. */
  readonly placers?: number;
}

/** A server that places orders in a new namespace, and the files that its agents write. */
export async function openSite(
  admin: Cluster,
  { settings = {}, leaseMs = 5000, placers: count = 1 }: SiteOptions = {},
) {
  const folder = await makeFolder({ effects: '' });
  const namespace = await makeNamespace(admin);
  const log: string[] = [];
  const logger = createJsonLogger((line) => void log.push(line));
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
  const { store, lead, data, work: repo_dir, url: server } = site;
  const images = { worker_image: 'sluice:1', image: 'agents:1', ttl_s: 3 };
  let skippedMs = 0;
  // With several, each is granted the duty.
  const placingStore: Store = count === 1 ? store : { ...store, leaseJobs: async ({ names }) => names };
  for (let index = 0; index < count; index += 1) {
    const placing = startPlacing({
      store: placingStore,
      lead,
      data,
      placements: [await openPlacement(namespace, { ...images, ...settings }, logger)],
      server,
      createRunToken: () => site.context.guard.createRunToken(),
      leaseMs,
      clock: () => store.now() + skippedMs,
      everyMs: 300,
      logger,
    });
    onTestFinished(async () => placing.stop());
  }
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repo_dir, ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');

  const readEffects = async () => (await readFile(join(folder, 'effects'), 'utf8')).trim().split('\n').toSorted();
  const held = new Set<string>();
  return {
    ...site,
    folder,
    namespace,
    log,
    readEffects,
    /** Lets the agents of the first orders wait until `release`. */
    hold: (orders = 1): void => {
      for (let number = 1; number <= orders; number += 1) held.add(join(folder, `hold-${number}`));
      execFileSync('mkfifo', [...held]);
    },
    release: async (orders: readonly number[] = []): Promise<void> => {
      const pipes = orders.length === 0 ? [...held] : orders.map((number) => join(folder, `hold-${number}`));
      for (const pipe of pipes) {
        // Unlike one that only writes, this open does not wait; what reads ends when it is closed.
        const descriptor = openSync(pipe, constants.O_RDWR);
        await rm(pipe);
        closeSync(descriptor);
        held.delete(pipe);
      }
    },
    /** Lets time pass for the placing duty. */
    skip: (ms: number) => void (skippedMs += ms),
    submit: async (number = 1): Promise<WorkOrder> => {
      const request = {
        issue_ref: `acme/shop#${number}`,
        role: 'backend',
        repo_dir,
        worker: 'placed',
        instructions: 'Work.',
      };
      return (await lead.submit(request)).order;
    },
    /** Finds the pod of an order. */
    findPod: async ({ issue_ref, run_id }: WorkOrder): Promise<string> => {
      const selector = encodeURIComponent(`sluice.run=${(await store.findOrder(issue_ref, run_id))?.run ?? ''}`);
      const path = `/api/v1/namespaces/${namespace.name}/pods?labelSelector=${selector}`;
      const { items } = (await admin.send('GET', path)) as {
        readonly items: readonly { metadata: { name: string } }[];
      };
      return items[0]?.metadata.name ?? '';
    },
    /** Waits until an order is settled; returns its decision, and the result of its run. */
    finish: async ({ issue_ref: issueRef, run_id: runId }: WorkOrder) => {
      const record = await waitForOrder(store, { issueRef, runId });
      const run = record?.run === undefined ? undefined : await store.findRun(record.run);
      return { decision: record?.decision, result: run?.result };
    },
    /** Waits until orders are done, each once and some by a second run, and nothing of them is left in the cluster. */
    expectDone: async (orders: readonly WorkOrder[], restarted: readonly WorkOrder[] = []): Promise<void> => {
      for (const { issue_ref } of orders)
        await expect.poll(async () => (await store.findIssue(issue_ref))?.state).toBe('review');
      const expected = orders.flatMap(({ issue_ref }) => [`${issue_ref} done`, `${issue_ref} started`]);
      const again = restarted.map(({ issue_ref }) => `${issue_ref} started`);
      expect(await readEffects()).toEqual([...expected, ...again].toSorted());
      await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    },
  };
}
