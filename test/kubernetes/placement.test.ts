import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Placement, PlacementHandle } from '../../src/orders/placement/index.js';
import { describePlacement } from '../../src/orders/placement/contract/placement.contract.js';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { startProgram, stopProgram, waitForServer } from './control-plane.js';
import {
  CONTROL_PLANE,
  IMAGES,
  makeNamespace,
  makeRun,
  openAdmin,
  openPlacement,
  type TestNamespace,
} from './test-cluster.js';
import { describeOrders } from './order-cases.js';
import { TestNode } from './test-node.js';

/** Makes the node controller end a silent node's pods soon. */
const IMPATIENT = ['unreachable', 'not-ready'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 1,
}));

describe.skipIf(CONTROL_PLANE === '')('runs on Kubernetes', () => {
  let admin: Cluster;
  let node: TestNode;

  beforeAll(async () => {
    admin = await openAdmin();
    node = await TestNode.start(admin, { name: 'node-1', images: IMAGES });
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

  it('that are evicted or out of memory are gone, with the cause', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const [evicted, oom] = [await placement.place(makeRun()), await placement.place(makeRun({ memory: '64Mi' }))];
    await reach(placement, evicted, 'alive');
    await reach(placement, oom, 'alive');
    await node.evict(await findPod(namespace, evicted));
    await node.killForMemory(await findPod(namespace, oom));
    await reach(placement, evicted, 'gone');
    await reach(placement, oom, 'gone');
    expect(await placement.state(evicted)).toEqual({
      state: 'gone',
      cause: 'evicted',
      reason: 'evicted: The node was low on resource: memory.',
    });
    expect(await placement.state(oom)).toMatchObject({ cause: 'oom' });
  });

  it('whose image cannot be pulled say so', async () => {
    const placement = await openPlacement(await makeNamespace(admin));
    const handle = await placement.place(makeRun({ image: 'missing:1' }));
    await expect
      .poll(async () => placement.state(handle))
      .toEqual({ state: 'pending', cause: 'image', reason: 'ImagePullBackOff: Back-off pulling image "missing:1"' });
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

  it('that are preempted are gone, with the cause', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const handle = await placement.place(makeRun({ cpu: 40 }));
    await reach(placement, handle, 'alive');
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await admin.send('POST', classes, { metadata: { name: 'urgent' }, value: 1000 });
    const resources = { requests: { cpu: '40' } };
    const containers = [{ name: 'urgent', image: 'sleeps:1', command: ['sleep'], resources }];
    await admin.send('POST', `/api/v1/namespaces/${namespace.name}/pods`, {
      metadata: { name: 'urgent' },
      spec: { priorityClassName: 'urgent', containers },
    });
    await expect.poll(async () => placement.state(handle)).toMatchObject({ cause: 'preempted' });
  });

  it('on a silent node are unknown until it reports again, even if they are deleted by force', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const other = await TestNode.start(admin, { name: 'node-2', images: IMAGES });
    try {
      const nodeSelector = { 'kubernetes.io/hostname': 'node-2' };
      const place = async () => placement.place(makeRun({ nodeSelector, tolerations: IMPATIENT }));
      const [returning, forced, lost] = [await place(), await place(), await place()];
      const handles = [returning, forced, lost];
      for (const handle of handles) await reach(placement, handle, 'alive');
      other.silence();
      for (const handle of handles) await reach(placement, handle, 'unknown');
      expect(await placement.state(returning)).toMatchObject({ cause: 'node_lost' });
      const pod = await findPod(namespace, forced);
      await admin.send('DELETE', `/api/v1/namespaces/${namespace.name}/pods/${pod}`, { gracePeriodSeconds: 0 });
      await expect
        .poll(async () => placement.state(forced))
        .toMatchObject({ state: 'unknown', reason: expect.stringContaining('did not report its end') as unknown });
      expect(other.running).toContain(pod);
      other.resume();
      await expect
        .poll(async () => placement.state(returning))
        .toMatchObject({ cause: 'node_lost', reason: expect.stringContaining('did not answer') as unknown });
      expect(await placement.state(forced)).toMatchObject({ state: 'unknown' });
    } finally {
      await other.close();
    }
  });

  it('on a node that was deleted are gone', async () => {
    const placement = await openPlacement(await makeNamespace(admin));
    const other = await TestNode.start(admin, { name: 'node-3', images: IMAGES });
    const handle = await placement.place(makeRun({ nodeSelector: { 'kubernetes.io/hostname': 'node-3' } }));
    await reach(placement, handle, 'alive');
    await other.close();
    await expect.poll(async () => placement.state(handle)).toMatchObject({ cause: 'node_lost' });
  });

  it('survive a restart of the API server, during which nothing is known', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const handles = await Promise.all(Array.from({ length: 50 }, async () => placement.place(makeRun())));
    for (const handle of handles) await reach(placement, handle, 'alive');
    await stopProgram(CONTROL_PLANE, 'kube-apiserver');
    await expect
      .poll(async () => Promise.all(handles.map(async (handle) => (await placement.state(handle)).state)))
      .toEqual(handles.map(() => 'unknown'));
    await expect(placement.place(makeRun())).rejects.toThrow(/does not answer/);
    await startProgram(CONTROL_PLANE, 'kube-apiserver');
    await waitForServer(CONTROL_PLANE);
    for (const handle of handles) await reach(placement, handle, 'alive');
    const [first] = handles;
    if (first === undefined) throw new Error('no handle');
    await placement.stop(first, 1);
    await reach(placement, first, 'gone');
    expect([...node.started.values()].every((count) => count === 1)).toBe(true);
  });

  it('are placed again once the service account has its rights back', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const running = await placement.place(makeRun());
    await reach(placement, running, 'alive');
    await namespace.revoke();
    const run = makeRun();
    await expect
      .poll(async () => placement.place(run).then(() => '', String))
      .toMatch(/forbidden.*Grant the service account/s);
    await namespace.grant();
    await expect.poll(async () => placement.place(run).then(() => 'placed', String)).toBe('placed');
    await reach(placement, running, 'alive');
  });

  it('of a deleted namespace end, and new ones name it', async () => {
    const namespace = await makeNamespace(admin);
    const placement = await openPlacement(namespace);
    const handle = await placement.place(makeRun());
    await reach(placement, handle, 'alive');
    const pod = await findPod(namespace, handle);
    expect(node.running).toContain(pod);
    await admin.send('DELETE', `/api/v1/namespaces/${namespace.name}`);
    await reach(placement, handle, 'gone');
    await expect(placement.place(makeRun())).rejects.toThrow(namespace.name);
    expect(node.running).not.toContain(pod);
  });
});
