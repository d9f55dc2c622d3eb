import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJsonLogger } from '../../src/base/index.js';
import type { Placement, PlacementHandle } from '../../src/orders/placement/index.js';
import { describePlacement } from '../../src/orders/placement/contract/placement.contract.js';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { getServer, startProgram, stopProgram, waitForServer } from './control-plane.js';
import {
  CONTROL_PLANE,
  IMAGES,
  IMPATIENT,
  makeNamespace,
  makeRun,
  openAdmin,
  openLine,
  openPlacement,
  type TestNamespace,
} from './test-cluster.js';
import { describeDemo } from './demo-case.js';
import { describeOrders } from './order-cases.js';
import { TestNode } from './test-node.js';

describe.skipIf(CONTROL_PLANE === '')('runs on Kubernetes', () => {
  let admin: Cluster;
  let node: TestNode;

  beforeAll(async () => {
    admin = await openAdmin();
    const { hostname, port } = new URL(await getServer(CONTROL_PLANE));
    const variables = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    node = await TestNode.start(admin, { name: 'node-1', images: IMAGES, variables });
  });
  afterAll(async () => node?.close());

  const reach = async (placement: Placement, handle: PlacementHandle, state: string): Promise<void> => {
    await expect.poll(async () => (await placement.state(handle)).state, { interval: 200 }).toBe(state);
  };
  const findPod = async ({ name }: TestNamespace, { name: job }: PlacementHandle): Promise<string> => {
    const selector = encodeURIComponent(`job-name=${job}`);
    const list = (await admin.send('GET', `/api/v1/namespaces/${name}/pods?labelSelector=${selector}`)) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return list.items[0]?.metadata.name ?? '';
  };

  describePlacement('kubernetes', async () => {
    const namespace = await makeNamespace(admin);
    const open = async () => openPlacement(namespace, { worker_image: 'sleeps:1' });
    return {
      placement: await open(),
      reopen: open,
      begin: async () => undefined,
      end: async (handle) => node.finish(await findPod(namespace, handle)),
      count: async () => (await namespace.listLeftovers()).filter((name) => name.startsWith('jobs/')).length,
    };
  });

  describeOrders(
    () => admin,
    () => node,
  );
  describeDemo(() => admin);

  it('are jobs, with no more rights than documented, and leave nothing behind', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace, { ttl_s: 0 });
    const handle = await placement.place(makeRun());
    await reach(placement, handle, 'alive');
    expect(await placement.list()).toEqual([handle]);
    expect(await namespace.listLeftovers()).toHaveLength(3);
    await placement.stop(handle, 1);
    await reach(placement, handle, 'gone');
    await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    expect(await placement.list()).toEqual([]);
    await placement.stop(handle, 1);
  });

  it('that end by themselves are gone without a cause, and deleted after their time', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace, { ttl_s: 3, worker_image: 'ends:1' });
    const [ended, failed] = [
      await placement.place(makeRun({ image: 'ends:1' })),
      await placement.place(makeRun({ image: 'fails:1' })),
    ];
    for (const handle of [ended, failed]) {
      await reach(placement, handle, 'gone');
      expect(await placement.state(handle)).toEqual({ state: 'gone' });
    }
    await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    expect(await placement.state(failed)).toMatchObject({ state: 'gone' });
  });

  it('are placed once, also by two servers at once and again after a crash', async () => {
    const namespace = await makeNamespace(admin);
    const [one, two] = [await openPlacement(namespace), await openPlacement(namespace)];
    const run = makeRun();
    const handles = await Promise.all([one, two, one].map(async (placement) => placement.place(run)));
    expect(new Set(handles.map(({ uid }) => uid)).size).toBe(1);
    const [handle] = handles;
    if (handle === undefined) throw new Error('no handle');
    await reach(two, handle, 'alive');
    const later = await openPlacement(namespace);
    expect(await later.place(run)).toEqual(handle);
    expect(await later.list()).toEqual([handle]);
    expect(await namespace.listLeftovers()).toHaveLength(3);
    const pod = await findPod(namespace, handle);
    expect(node.started.get(pod)).toBe(1);
  });

  it('are unknown if another job has their name, or if nothing remembers their end', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const run = makeRun();
    const first = await placement.place(run);
    await reach(placement, first, 'alive');
    await placement.stop(first, 1);
    await reach(placement, first, 'gone');
    await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    const later = await openPlacement(namespace);
    expect(await later.state(first)).toMatchObject({
      state: 'unknown',
      reason: 'the job and its pods no longer exist',
    });
    const second = await later.place({ ...run, token: 'another' });
    expect(second.uid).not.toBe(first.uid);
    expect(await later.state(first)).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining('replaced') as unknown,
    });
    await later.stop(first, 1);
    await reach(later, second, 'gone');
    expect(await namespace.listLeftovers()).toHaveLength(3);
  });

  it('beyond a quota are refused with its name, or wait for their pod', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const quotas = `/api/v1/namespaces/${namespace.name}/resourcequotas`;
    await admin.send('POST', quotas, { metadata: { name: 'few' }, spec: { hard: { pods: '0' } } });
    await expect
      .poll(async () => admin.send('GET', `${quotas}/few`))
      .toMatchObject({ status: { used: { pods: '0' } } });
    const handle = await placement.place(makeRun());
    await expect
      .poll(async () => placement.state(handle))
      .toMatchObject({ state: 'pending', cause: 'quota', reason: expect.stringContaining('few') as unknown });
    await admin.send('DELETE', `${quotas}/few`);
    await admin.send('POST', quotas, { metadata: { name: 'none' }, spec: { hard: { 'count/jobs.batch': '1' } } });
    await expect
      .poll(async () => admin.send('GET', `${quotas}/none`))
      .toMatchObject({ status: { used: { 'count/jobs.batch': '1' } } });
    await expect(placement.place(makeRun())).rejects.toMatchObject({
      name: 'PlacementError',
      cause: 'quota',
      reason: expect.stringContaining('none') as unknown,
    });
  });

  it('on a silent node are unknown until it reports again, even if they are deleted by force', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const other = await TestNode.start(admin, { name: 'node-2', images: IMAGES });
    try {
      const node_selector = { 'kubernetes.io/hostname': 'node-2' };
      const place = async () => placement.place(makeRun({ node_selector, tolerations: IMPATIENT }));
      const [returning, forced, lost] = [await place(), await place(), await place()];
      const handles = [returning, forced, lost];
      for (const handle of handles) await reach(placement, handle, 'alive');
      // Now: each job replaces a pod that the cluster evicts, so later it has two.
      const [kept, pod] = [await findPod(namespace, returning), await findPod(namespace, forced)];
      const pods = `/api/v1/namespaces/${namespace.name}/pods`;
      other.silence();
      for (const handle of handles) await reach(placement, handle, 'unknown');
      expect(await placement.state(returning)).toMatchObject({ cause: 'node_lost' });
      await admin.send('DELETE', `${pods}/${pod}`, { gracePeriodSeconds: 0 });
      await expect
        .poll(async () => placement.state(forced))
        .toMatchObject({ state: 'unknown', reason: expect.stringContaining('did not report its end') as unknown });
      expect(other.running).toContain(pod);
      // A node that is back before the cluster has evicted its pods keeps them.
      await expect
        .poll(async () => admin.send('GET', `${pods}/${kept}`))
        .toHaveProperty('metadata.deletionTimestamp', expect.any(String));
      other.resume();
      await expect
        .poll(async () => placement.state(returning))
        .toMatchObject({ cause: 'node_lost', reason: expect.stringContaining('did not answer') as unknown });
      expect(await placement.state(forced)).toMatchObject({ state: 'unknown' });
    } finally {
      await other.close();
    }
  });

  it('are known again after a watch that ended with 410 Gone, also what happened meanwhile', async () => {
    const namespace = await makeNamespace(admin);
    const line = await openLine(namespace);
    const log: string[] = [];
    const logger = createJsonLogger((text) => void log.push(text));
    const [placement, direct] = [
      await openPlacement(line, {}, logger),
      await openPlacement(namespace, { worker_image: 'sleeps:1' }),
    ];
    const seen = new Set<string>();
    placement.watch?.(({ run }) => void seen.add(run));
    const place = async () => direct.place(makeRun());
    const [kept, evicted, deleted] = [await place(), await place(), await place()];
    // Without a watch, the state would come from a request.
    await expect.poll(() => seen.size).toBe(3);
    for (const handle of [kept, evicted, deleted]) await reach(placement, handle, 'alive');
    line.cut();
    await reach(placement, kept, 'unknown');
    await node.evict(await findPod(namespace, evicted));
    await direct.stop(deleted, 1);
    for (const handle of [evicted, deleted]) await reach(direct, handle, 'gone');
    const added = await place();
    await reach(direct, added, 'alive');
    // A new server has only the changes since its start, so it no longer has the place where the watch was.
    await stopProgram(CONTROL_PLANE, 'kube-apiserver');
    await startProgram(CONTROL_PLANE, 'kube-apiserver');
    await waitForServer(CONTROL_PLANE);
    // A refusal while it starts would end the watch in another way.
    await expect.poll(async () => direct.list().then((all) => all.length, String)).toBe(3);
    expect(log.join('')).not.toContain('is too old');
    line.restore();
    await expect.poll(() => log.join('')).toMatch(/the watch of pods is too old.*410/);
    for (const handle of [kept, added]) await reach(placement, handle, 'alive');
    expect(await placement.state(evicted)).toMatchObject({ state: 'gone', cause: 'evicted' });
    // It is missing, and nothing that this watch has seen proves that it had ended.
    await expect
      .poll(async () => placement.state(deleted))
      .toMatchObject({ state: 'unknown', reason: expect.stringContaining('did not report its end') as unknown });
  });

  it('on a node that was deleted are gone', async () => {
    const placement = await openPlacement(await makeNamespace(admin));
    const other = await TestNode.start(admin, { name: 'node-3', images: IMAGES });
    const handle = await placement.place(makeRun({ node_selector: { 'kubernetes.io/hostname': 'node-3' } }));
    await reach(placement, handle, 'alive');
    await other.close();
    await expect.poll(async () => placement.state(handle)).toMatchObject({ cause: 'node_lost' });
  });
});
