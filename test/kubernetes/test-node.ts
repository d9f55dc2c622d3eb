import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { ClusterError } from '../../src/orders/placement/kubernetes/cluster.js';
import {
  getExitCode,
  hasExited,
  mountVolumes,
  signalAll,
  startContainer,
  type Images,
  type NodeContainer,
  type NodePod,
} from './pod-processes.js';

/** A pod on this node. */
interface LocalPod {
  pod: NodePod;
  readonly folder: string;
  /** By container. */
  readonly processes: Map<string, ChildProcess>;
  /** Why the node ends it, if not because its process exited. */
  fate?: { readonly reason: string; readonly message: string; readonly container?: string };
  isEnding: boolean;
  isReported: boolean;
}

interface NodeOptions {
  readonly name: string;
  readonly images: Images;
  /** The cores that the scheduler may give to pods. */
  readonly cpu?: string;
  /** Variables of every container, such as the address of the cluster. */
  readonly variables?: Readonly<Record<string, string>>;
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const HEARTBEAT_MS = 1000;

/**
 * A node for tests: registers itself, renews its lease, executes the pods bound to it as processes of this host, and
 * reports their status as a kubelet does. Volumes are folders, whose paths replace those in variables.
 */
export class TestNode {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #images: Images;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #pods = new Map<string, LocalPod>();
  readonly #closed = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #isSilent = false;
  /** How many processes it has started, by pod name. */
  readonly started = new Map<string, number>();

  private constructor(cluster: Cluster, { name, images, variables = {} }: NodeOptions) {
    this.#cluster = cluster;
    this.name = name;
    this.#images = images;
    this.#variables = variables;
  }

  /** Registers a node. */
  static async start(cluster: Cluster, options: NodeOptions): Promise<TestNode> {
    const { name, cpu = '64' } = options;
    const node = new TestNode(cluster, options);
    await cluster.send('POST', '/api/v1/nodes', { metadata: { name, labels: { 'kubernetes.io/hostname': name } } });
    await node.#reportReady(cpu);
    const lease = {
      metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 20, renewTime: microTime() },
    };
    await cluster.send('POST', LEASES, lease);
    node.#loops.push(
      node.#repeat(HEARTBEAT_MS, async () => node.#renew(cpu)),
      node.#repeat(200, async () => node.#sync()),
    );
    return node;
  }

  /** The names of the pods whose processes run. */
  get running(): readonly string[] {
    return [...this.#pods.values()]
      .filter(({ processes }) => [...processes.values()].some((child) => !hasExited(child)))
      .map(({ pod }) => pod.metadata.name);
  }

  /** Stops talking to the cluster, as a node without a network; its processes continue, except those of one pod. */
  silence(frozen?: string): void {
    this.#isSilent = true;
    for (const local of this.#pods.values())
      if (local.pod.metadata.name === frozen) signalAll(local.processes, 'SIGSTOP');
  }

  resume(): void {
    this.#isSilent = false;
    for (const local of this.#pods.values()) signalAll(local.processes, 'SIGCONT');
  }

  /** Ends a pod as a kubelet does under memory pressure. */
  async evict(name: string): Promise<void> {
    await this.#end(name, { reason: 'Evicted', message: 'The node was low on resource: memory.' });
  }

  /** Ends the processes of a pod, as if by themselves. */
  async finish(name: string): Promise<void> {
    await this.#end(name);
  }

  /** Kills a container as the kernel does at its memory limit. */
  async killForMemory(name: string, container: string): Promise<void> {
    await this.#end(name, { reason: 'OOMKilled', message: '', container });
  }

  async #end(name: string, fate?: LocalPod['fate']): Promise<void> {
    const local = [...this.#pods.values()].find(({ pod }) => pod.metadata.name === name);
    if (local === undefined) throw new Error(`the pod ${name} is not on this node`);
    if (fate !== undefined) local.fate = fate;
    signalAll(local.processes, 'SIGKILL', fate?.container);
  }

  /** Kills all processes. With `unregister`, the node is deleted from the cluster, as when a machine is removed. */
  async close({ unregister = true }: { readonly unregister?: boolean } = {}): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#loops);
    for (const local of this.#pods.values()) {
      signalAll(local.processes, 'SIGKILL');
      await rm(local.folder, { recursive: true, force: true, maxRetries: 5 });
    }
    if (!unregister) return;
    for (const path of [`${LEASES}/${this.name}`, `/api/v1/nodes/${this.name}`]) await this.#try('DELETE', path);
  }

  async #repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      // The API server might be restarting.
      if (!this.#isSilent) await work().catch(() => undefined);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #reportReady(cpu: string): Promise<void> {
    const path = `/api/v1/nodes/${this.name}`;
    const node = (await this.#cluster.send('GET', path)) as {
      readonly metadata: object;
      readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    };
    if (node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true) return;
    const size = { cpu, memory: '64Gi', pods: '200', 'ephemeral-storage': '100Gi' };
    const now = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now };
    await this.#cluster.send('PUT', `${path}/status`, {
      ...withoutVersion(node),
      status: { ...node.status, capacity: size, allocatable: size, conditions: [ready] },
    });
  }

  async #renew(cpu: string): Promise<void> {
    const path = `${LEASES}/${this.name}`;
    const lease = (await this.#cluster.send('GET', path)) as { readonly spec: object };
    await this.#cluster.send('PUT', path, { ...lease, spec: { ...lease.spec, renewTime: microTime() } });
    await this.#reportReady(cpu);
  }

  async #sync(): Promise<void> {
    const selector = encodeURIComponent(`spec.nodeName=${this.name}`);
    const { items } = (await this.#cluster.send('GET', `/api/v1/pods?fieldSelector=${selector}`)) as {
      readonly items: readonly NodePod[];
    };
    const found = new Set(items.map(({ metadata }) => metadata.uid));
    for (const [uid, local] of this.#pods) {
      if (found.has(uid)) continue;
      // Deleted by force: a kubelet ends it as soon as it learns of that.
      signalAll(local.processes, 'SIGKILL');
      await rm(local.folder, { recursive: true, force: true, maxRetries: 5 });
      this.#pods.delete(uid);
    }
    await Promise.all(items.map(async (pod) => this.#syncPod(pod).catch(() => undefined)));
  }

  async #syncPod(pod: NodePod): Promise<void> {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds: graceS = 30 } = pod.metadata;
    let local = this.#pods.get(uid);
    if (local === undefined) {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-pod-'));
      local = { pod, folder, processes: new Map(), isEnding: false, isReported: false };
      this.#pods.set(uid, local);
    }
    local.pod = pod;
    const children = [...local.processes.values()];
    const isStarted = children.length > 0;
    const isOver = isStarted && children.every(hasExited);
    const known = local;
    if (deletionTimestamp !== undefined) {
      if (!isStarted || isOver) {
        if (isStarted) await this.#reportEnd(local);
        await this.#try('DELETE', getPodPath(pod), { gracePeriodSeconds: 0, preconditions: { uid } });
      } else if (!local.isEnding) {
        local.isEnding = true;
        signalAll(local.processes, 'SIGTERM');
        setTimeout(() => signalAll(known.processes, 'SIGKILL'), graceS * 1000).unref();
      }
    } else if (isOver) {
      if (!local.isReported) await this.#reportEnd(local);
      local.isReported = true;
    } else if (!isStarted) await this.#launch(local);
  }

  async #launch(local: LocalPod): Promise<void> {
    const { containers, initContainers = [] } = local.pod.spec;
    const missing = [...initContainers, ...containers].find(({ image }) => this.#images[image] === undefined);
    if (missing !== undefined) {
      const message = `Back-off pulling image "${missing.image}"`;
      return this.#report(local, 'Pending', () => ({ waiting: { reason: 'ImagePullBackOff', message } }));
    }
    // A kubelet waits for secrets.
    const mounted = await mountVolumes(local.pod, local.folder, async (path) => this.#try('GET', path));
    if (!mounted) return;
    const start = async (container: NodeContainer): Promise<ChildProcess> => {
      const env = await this.#readVariables(local.pod, container);
      return startContainer(container, { folder: local.folder, image: this.#images[container.image], env });
    };
    for (const container of initContainers) {
      const [code] = (await once(await start(container), 'exit')) as [number | null];
      if (code !== 0) throw new Error(`the container ${container.name} has failed`);
    }
    for (const container of containers) local.processes.set(container.name, await start(container));
    const { name } = local.pod.metadata;
    this.started.set(name, (this.started.get(name) ?? 0) + 1);
    await this.#report(local, 'Running', () => ({ running: { startedAt: new Date().toISOString() } }));
  }

  /** The variables of a container, with those of secrets, and the address of the cluster. */
  async #readVariables({ metadata }: NodePod, { env = [] }: NodeContainer): Promise<Record<string, string>> {
    const variables = { ...this.#variables };
    for (const { name, value = '', valueFrom } of env) {
      variables[name] = value;
      if (valueFrom === undefined) continue;
      const { name: secret, key } = valueFrom.secretKeyRef;
      const path = `/api/v1/namespaces/${metadata.namespace}/secrets/${secret}`;
      const { data } = (await this.#cluster.send('GET', path)) as { readonly data: Readonly<Record<string, string>> };
      variables[name] = Buffer.from(data[key] ?? '', 'base64').toString('utf8');
    }
    return variables;
  }

  async #reportEnd(local: LocalPod): Promise<void> {
    const { fate, processes } = local;
    const outOfMemory = fate?.container;
    const codes = [...processes.values()].map(getExitCode);
    const phase = codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
    const getState = (name: string): object => {
      const child = processes.get(name);
      const exitCode = child === undefined ? 0 : getExitCode(child);
      const reason = name === outOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
      return { terminated: { exitCode, reason, finishedAt: new Date().toISOString() } };
    };
    await this.#report(local, phase, getState, outOfMemory === undefined ? fate : undefined);
  }

  async #report(
    local: LocalPod,
    phase: string,
    getState: (container: string) => object,
    fate?: LocalPod['fate'],
  ): Promise<void> {
    const isReady = phase === 'Running';
    const containerStatuses = local.pod.spec.containers.map(({ name, image }) => {
      return { name, image, imageID: image, ready: isReady, restartCount: 0, state: getState(name) };
    });
    const current = (await this.#cluster.send('GET', getPodPath(local.pod))) as NodePod;
    if (current.metadata.uid !== local.pod.metadata.uid) return;
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const startTime = new Date().toISOString();
    const status = { ...current.status, phase, startTime, conditions, ...fate, containerStatuses };
    await this.#cluster.send('PUT', `${getPodPath(local.pod)}/status`, { ...withoutVersion(current), status });
  }

  /** Sends a request whose failure does not matter, such as for an object that no longer exists. */
  async #try(method: 'GET' | 'DELETE', path: string, body?: object): Promise<unknown> {
    return this.#cluster.send(method, path, body).catch((error: unknown) => {
      if (error instanceof ClusterError) return undefined;
      throw error;
    });
  }
}

/** Only the status is written, so a change of something else meanwhile does not matter. */
function withoutVersion<Found extends { readonly metadata: object }>(object: Found): Found {
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } };
}

function getPodPath({ metadata: { namespace, name } }: NodePod): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
