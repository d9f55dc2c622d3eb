import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { startProgram, stopProgram, waitForServer } from './control-plane.js';
import { openSite } from './order-site.js';
import { CONTROL_PLANE, IMAGES, IMPATIENT, makeRun, openPlacement } from './test-cluster.js';
import { TestNode } from './test-node.js';

/** The load while the API server restarts: jobs that only sleep, and orders, which take a second of processor time each. */
const [SLEEPING, WORKING] = [40, 10];

const URGENT = { metadata: { name: 'urgent-order' }, value: 1000 };

/** Orders in pods, executed by the built command, while the cluster loses things. */
export function describeOrders(getAdmin: () => Cluster, getNode: () => TestNode): void {
  describe('orders on Kubernetes', () => {
    it('are executed in pods, each once, with their isolation as evidence, and leave nothing behind', async () => {
      const { submit, finish, expectDone, folder } = await openSite(getAdmin());
      const orders = await Promise.all([1, 2, 3].map(submit));
      for (const order of orders) {
        const { decision, result } = await finish(order);
        expect(decision).toMatchObject({ action: 'advance' });
        expect(result?.sandbox).toMatchObject({
          used: true,
          engine: expect.stringContaining('kubernetes') as unknown,
        });
      }
      expect(await readFile(join(folder, 'environment'), 'utf8')).not.toMatch(/slr_|TOKEN/);
      await expectDone(orders);
    });

    it('are done once by two servers that place at the same time', async () => {
      const { submit, expectDone } = await openSite(getAdmin(), { placers: 2 });
      await expectDone(await Promise.all([1, 2, 3, 4, 5, 6].map(submit)));
    });

    it.each([
      ['evicted', /evicted: The node was low on resource: memory\. Run it again/],
      ['oom', /the pod used more than its memory\. Raise "memory"/],
    ] as const)('whose pod is lost (%s) are done by the next one, without a person', async (cause, message) => {
      const { submit, hold, release, finish, readEffects, expectDone, findPod } = await openSite(getAdmin());
      hold();
      const order = await submit();
      await expect.poll(readEffects).toEqual(['acme/shop#1 started']);
      const pod = await findPod(order);
      if (cause === 'evicted') await getNode().evict(pod);
      else await getNode().killForMemory(pod, 'agent');
      const { result } = await finish(order);
      expect(result?.error).toMatchObject({
        code: 'PLACEMENT_FAILED',
        cause,
        message: expect.stringMatching(message) as unknown,
      });
      await expect.poll(readEffects).toHaveLength(2);
      await release();
      await expectDone([order], [order]);
    });

    it('that are preempted are done when there is room again', async () => {
      const containers = [{ name: 'agent', resources: { requests: { cpu: '40' }, limits: { cpu: '40' } } }];
      const template = { spec: { containers, terminationGracePeriodSeconds: 2 } };
      const { submit, hold, release, finish, readEffects, expectDone, namespace } = await openSite(getAdmin(), {
        settings: { template },
      });
      hold();
      const order = await submit();
      await expect.poll(readEffects).toEqual(['acme/shop#1 started']);
      await getAdmin().send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', URGENT);
      const pods = `/api/v1/namespaces/${namespace.name}/pods`;
      const urgent = { name: 'urgent', image: 'sleeps:1', command: ['sleep'], resources: { requests: { cpu: '40' } } };
      await getAdmin().send('POST', pods, {
        metadata: { name: 'urgent' },
        spec: { priorityClassName: URGENT.metadata.name, containers: [urgent] },
      });
      expect((await finish(order)).result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'preempted' });
      await release();
      await getAdmin().send('DELETE', `${pods}/urgent`);
      await expectDone([order], [order]);
    });

    it('whose image cannot be pulled go to a person, with its name', async () => {
      const { submit, finish, log, skip, namespace, readEffects } = await openSite(getAdmin(), {
        settings: { image: 'missing:1' },
      });
      const order = await submit();
      await expect.poll(() => log.join('')).toMatch(/has a problem.*Back-off pulling image \\"missing:1\\"/);
      skip(60_000);
      const { decision, result } = await finish(order);
      expect(decision).toMatchObject({
        action: 'needs-human',
        result_code: 'env_unavailable',
        reason: expect.stringContaining('missing:1') as unknown,
      });
      expect(result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'image' });
      expect(await readEffects()).toEqual(['']);
      await expect.poll(async () => namespace.listLeftovers()).toEqual([]);
    });

    it('beyond a quota wait for it, and the log names it', async () => {
      const { submit, log, expectDone, namespace } = await openSite(getAdmin());
      const quotas = `/api/v1/namespaces/${namespace.name}/resourcequotas`;
      await getAdmin().send('POST', quotas, { metadata: { name: 'no-pods' }, spec: { hard: { pods: '0' } } });
      await expect
        .poll(async () => getAdmin().send('GET', `${quotas}/no-pods`))
        .toMatchObject({ status: { used: { pods: '0' } } });
      const order = await submit();
      await expect.poll(() => log.join('')).toMatch(/has a problem.*"cause":"quota".*exceeded quota: no-pods/);
      await getAdmin().send('DELETE', `${quotas}/no-pods`);
      await expectDone([order]);
    });

    it('wait while the service account lacks its rights, and those that run are not lost', async () => {
      const { submit, hold, release, finish, readEffects, log, expectDone, namespace } = await openSite(getAdmin());
      hold();
      const running = await submit();
      await expect.poll(readEffects).toEqual(['acme/shop#1 started']);
      await namespace.revoke();
      const waiting = await submit(2);
      await expect.poll(() => log.join('')).toMatch(/cannot place a run.*forbidden.*Grant the service account/);
      await release();
      expect((await finish(running)).decision).toMatchObject({ action: 'advance' });
      await namespace.grant();
      await expectDone([running, waiting]);
    });

    it('in a deleted namespace are done when it exists again', async () => {
      const { submit, hold, release, finish, readEffects, log, expectDone, namespace } = await openSite(getAdmin());
      hold();
      const order = await submit();
      await expect.poll(readEffects).toEqual(['acme/shop#1 started']);
      await getAdmin().send('DELETE', `/api/v1/namespaces/${namespace.name}`);
      const { result } = await finish(order);
      expect(result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'evicted' });
      await expect
        .poll(() => log.join(''))
        .toMatch(new RegExp(`cannot place a run.*namespace \\\\"${namespace.name}\\\\".* again`));
      await release();
      await namespace.create();
      await expectDone([order], [order]);
    });

    it('on a silent node go on, and a person decides about those that are silent too', async () => {
      const nodeSelector = { 'kubernetes.io/hostname': 'node-4' };
      const template = { spec: { nodeSelector, tolerations: IMPATIENT } };
      const { submit, hold, release, finish, readEffects, expectDone, findPod, lead, store } = await openSite(
        getAdmin(),
        { settings: { template } },
      );
      const node = await TestNode.start(getAdmin(), { name: 'node-4', images: IMAGES });
      try {
        hold(2);
        const [working, frozen] = [await submit(1), await submit(2)];
        await expect.poll(readEffects).toHaveLength(2);
        node.silence(await findPod(frozen));
        const { decision } = await finish(frozen);
        expect(decision).toMatchObject({
          action: 'needs-human',
          reason: expect.stringContaining('the node "node-4" does not answer') as unknown,
        });
        await release([1]);
        expect((await finish(working)).decision).toMatchObject({ action: 'advance' });
        // What comes back has lost its claim, and ends.
        node.resume();
        await expect.poll(() => node.running).toEqual([]);
        const { items } = await store.listInbox({ issueRef: frozen.issue_ref, order: 'newest', limit: 1 });
        await lead.resolve({ id: items[0]?.id ?? '', action: 'retry', who: 'ada', why: 'The node is back.' });
        await release();
        await expectDone([working, frozen], [frozen]);
      } finally {
        await node.close();
      }
    });

    it('survive a restart of the API server during 50 jobs, also if one is evicted meanwhile', async () => {
      const { submit, hold, release, finish, readEffects, expectDone, findPod, namespace } = await openSite(
        getAdmin(),
        {
          // After an outage of two leases, a person decides.
          leaseMs: 60_000,
        },
      );
      const placement = await openPlacement(namespace, { worker_image: 'sleeps:1', image: 'sleeps:1' });
      const others = await Promise.all(Array.from({ length: SLEEPING }, async () => placement.place(makeRun())));
      const readStates = async () => Promise.all(others.map(async (each) => (await placement.state(each)).state));
      hold(WORKING);
      const orders = await Promise.all(Array.from({ length: WORKING }, async (_, index) => submit(index + 1)));
      await expect.poll(readEffects).toHaveLength(WORKING);
      await expect.poll(readStates).toEqual(others.map(() => 'alive'));
      const [lost, ...working] = orders;
      if (lost === undefined) throw new Error('no order');
      const pod = await findPod(lost);
      await stopProgram(CONTROL_PLANE, 'kube-apiserver');
      await getNode().evict(pod);
      await expect.poll(readStates).toEqual(others.map(() => 'unknown'));
      await expect(placement.place(makeRun())).rejects.toThrow(/does not answer/);
      await startProgram(CONTROL_PLANE, 'kube-apiserver');
      await waitForServer(CONTROL_PLANE);
      expect((await finish(lost)).result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'evicted' });
      await expect.poll(readStates).toEqual(others.map(() => 'alive'));
      await release();
      for (const order of working) expect((await finish(order)).decision).toMatchObject({ action: 'advance' });
      for (const each of others) await placement.stop(each, 1);
      await expectDone(orders, [lost]);
      expect(Math.max(...getNode().started.values())).toBe(1);
    });
  });
}
