import { setTimeout as sleep } from 'node:timers/promises';
import { setLatest, silentLogger, type Logger } from '../../../base/index.js';
import { PlacementError } from '../../../runs/sandbox/index.js';
import type { Placement, PlacementHandle } from '../port.js';
import { ClusterError, describeClusterProblem, openCluster, type Cluster, type LoadClient } from './cluster.js';
import { getJobName, renderJob, renderSecret, RUN_LABEL, SELECTOR } from './manifest.js';
import type { ClusterEvent, FoundNode, Job, List, Pod, WatchLine } from './objects.js';
import { isRunning, readState } from './read-state.js';
import type { KubernetesSettings } from './settings.js';

/** How long the state of a node is used for other pods on it. */
const NODE_MS = 3000;

/** Places each run as a job in a cluster. The cluster schedules it; its state comes from one watch of all pods. */
export async function openKubernetesPlacement(
  settings: KubernetesSettings,
  { logger = silentLogger, load }: { readonly logger?: Logger; readonly load?: LoadClient } = {},
): Promise<Placement> {
  const cluster = await openCluster(settings, load);
  const { namespace } = cluster;
  const watched = watchPods(cluster, logger);
  const core = `/api/v1/namespaces/${namespace}`;
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const nodes = new Map<string, { readonly at: number; readonly found: Promise<FoundNode> }>();

  /** A node never ends on an error: that is not known then. */
  async function findNode(name: string): Promise<FoundNode> {
    const known = nodes.get(name);
    if (known !== undefined && Date.now() - known.at < NODE_MS) return known.found;
    const found = findObject<FoundNode>(cluster, `/api/v1/nodes/${name}`)
      .then((node) => node ?? 'absent')
      .catch(() => undefined);
    nodes.set(name, { at: Date.now(), found });
    return found;
  }

  async function findNodes(pods: readonly Pod[]): Promise<ReadonlyMap<string, FoundNode>> {
    const names = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))];
    return new Map(await Promise.all(names.map(async (name) => [name, await findNode(name)] as const)));
  }

  async function listPods({ run, uid = '' }: PlacementHandle): Promise<readonly Pod[]> {
    const known = watched.find(uid);
    if (known !== undefined) return known;
    const selector = encodeURIComponent(`${RUN_LABEL}=${run}`);
    const { items } = (await cluster.send('GET', `${core}/pods?labelSelector=${selector}`)) as List<Pod>;
    return items.filter((pod) => getJobUid(pod) === uid);
  }

  /** Events only explain a state, so a missing right to read them is not an error. Some name a pod without its UID. */
  async function listEvents(selectors: readonly string[]): Promise<readonly ClusterEvent[]> {
    const lists = selectors.map(async (each) => {
      const selector = encodeURIComponent(`involvedObject.${each}`);
      const list = cluster.send('GET', `${core}/events?fieldSelector=${selector}`) as Promise<List<ClusterEvent>>;
      return list.then(({ items }) => items).catch(() => []);
    });
    return (await Promise.all(lists)).flat();
  }

  return {
    name: 'kubernetes',
    async place(run) {
      const name = getJobName(run.id);
      const rendered = renderJob(run, settings);
      try {
        const created = (await cluster.send('POST', jobs, rendered).catch(async (error: unknown) => {
          if (!isConflict(error)) throw error;
          return findObject(cluster, `${jobs}/${name}`);
        })) as Job | undefined;
        if (created === undefined || created.metadata.deletionTimestamp !== undefined)
          throw new Error(`the job "${name}" is being deleted`);
        await cluster.send('POST', `${core}/secrets`, renderSecret(run, created.metadata)).catch((error: unknown) => {
          if (!isConflict(error)) throw error;
        });
        return { run: run.id, name, uid: created.metadata.uid };
      } catch (error) {
        throw explainRefusal(error, namespace);
      }
    },
    async state(handle) {
      const { name, uid = '' } = handle;
      try {
        const pods = await listPods(handle);
        const deleted = watched.findDeleted(uid);
        const all = [...deleted, ...pods];
        const foundNodes = await findNodes(all);
        const evidence = { pods, deleted, nodes: foundNodes, events: [], job: undefined };
        // The usual case needs nothing else.
        if (pods.some(isRunning) && deleted.length === 0) {
          const report = readState(evidence);
          if (report.state === 'alive') return report;
        }
        const found = await findObject<Job>(cluster, `${jobs}/${name}`).catch((error: unknown) => {
          // With a deleted namespace, the right to read it is gone; the watch has seen how the pods ended.
          if (all.length === 0) throw error;
          return undefined;
        });
        const job = found?.metadata.uid === uid ? found : undefined;
        if (all.length === 0 && found !== undefined && job === undefined)
          return { state: 'unknown', reason: `the job "${name}" was replaced by another one` };
        const events = await listEvents([`uid=${uid}`, ...all.map(({ metadata }) => `name=${metadata.name}`)]);
        return readState({ ...evidence, job, events });
      } catch (error) {
        return { state: 'unknown', reason: describeClusterProblem(error) };
      }
    },
    async stop(handle, graceS) {
      const { name, uid } = handle;
      // The job first: it would replace its pod.
      await remove(cluster, `${jobs}/${name}`, { propagationPolicy: 'Background', preconditions: { uid } });
      const pods = await listPods(handle);
      for (const pod of pods) {
        // At least one second: zero would delete the pod without waiting for its node.
        const gracePeriodSeconds = Math.max(1, Math.ceil(graceS));
        const preconditions = { uid: pod.metadata.uid };
        await remove(cluster, `${core}/pods/${pod.metadata.name}`, { gracePeriodSeconds, preconditions });
      }
    },
    async list() {
      const path = `${jobs}?labelSelector=${encodeURIComponent(SELECTOR)}`;
      const { items } = (await cluster.send('GET', path)) as List<Job>;
      return items.flatMap(({ metadata: { name, uid, labels } }) => {
        const run = labels?.[RUN_LABEL];
        return run === undefined ? [] : [{ run, name, uid }];
      });
    },
    watch(onChange) {
      return watched.onChange((pod) => {
        const run = pod.metadata.labels?.[RUN_LABEL];
        const uid = getJobUid(pod);
        if (run !== undefined && uid !== undefined) onChange({ run, name: getJobName(run), uid });
      });
    },
    close: async () => watched.close(),
  };
}

async function findObject<Found>(cluster: Cluster, path: string): Promise<Found | undefined> {
  return (cluster.send('GET', path) as Promise<Found>).catch((error: unknown) => {
    if (error instanceof ClusterError && error.status === 404) return undefined;
    throw error;
  });
}

/** Deletes an object; one that is absent, or has another UID, counts as deleted. */
async function remove(cluster: Cluster, path: string, options: object): Promise<void> {
  await cluster
    .send('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', ...options })
    .catch((error: unknown) => {
      if (!(error instanceof ClusterError) || ![404, 409].includes(error.status)) throw error;
    });
}

function isConflict(error: unknown): boolean {
  return error instanceof ClusterError && error.reason === 'AlreadyExists';
}

/**
 * Explains why a run was not placed. A quota and an invalid manifest are refusals of this run; everything else, such as
 * a missing right, concerns all runs and is retried until an operator has fixed it.
 */
function explainRefusal(error: unknown, namespace: string): unknown {
  if (error instanceof PlacementError) return error;
  const problem = describeClusterProblem(error);
  if (!(error instanceof ClusterError))
    return new Error(`Cannot place the run on Kubernetes: ${problem}.`, { cause: error });
  const { status } = error;
  if (status === 403 && /exceeded quota/.test(problem)) return new PlacementError('quota', problem);
  if (status === 400 || status === 422) return new PlacementError('unknown', problem);
  const advice =
    status === 401 || status === 403
      ? `Grant the service account of Sluice its role in the namespace "${namespace}" again.`
      : status === 404
        ? `Create the namespace "${namespace}" and its roles again.`
        : 'It is tried again.';
  return new Error(`Cannot place the run on Kubernetes: ${problem}. ${advice}`, { cause: error });
}

/** A watch ends after this long and is resumed where it was, so that a broken one is noticed. */
const WATCH_S = 300;
const MAX_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 200;
/** How many deleted pods are remembered. Their jobs were stopped or replaced, and are asked for soon. */
const MAX_DELETED = 10_000;

/**
 * Watches the pods of all runs until it is closed. A watch that ends is resumed where it was; where the cluster no longer
 * has that (`410 Gone`), all pods are listed again. A pod that is then missing was deleted, and is remembered as it was
 * last seen.
 */
export function watchPods(cluster: Cluster, logger: Logger) {
  const pods = new Map<string, Pod>();
  const deleted = new Map<string, Pod>();
  const listeners = new Set<(pod: Pod) => void>();
  const closed = new AbortController();
  const { signal } = closed;
  let isCurrent = false;
  const path = `/api/v1/namespaces/${cluster.namespace}/pods?labelSelector=${encodeURIComponent(SELECTOR)}`;

  const report = (pod: Pod): void => {
    for (const listener of listeners) listener(pod);
  };

  function markDeleted(pod: Pod): void {
    const { uid } = pod.metadata;
    pods.delete(uid);
    // The cluster deletes a pod without a node at once, without a time.
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date().toISOString();
    setLatest(deleted, MAX_DELETED, uid, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
    report(pod);
  }

  async function listAll(): Promise<string> {
    const { items, metadata } = (await cluster.send('GET', path)) as List<Pod>;
    const found = new Set(items.map(({ metadata: { uid } }) => uid));
    for (const pod of pods.values()) if (!found.has(pod.metadata.uid)) markDeleted(pod);
    for (const pod of items) {
      const isNew = pods.get(pod.metadata.uid)?.metadata.resourceVersion !== pod.metadata.resourceVersion;
      pods.set(pod.metadata.uid, pod);
      if (isNew) report(pod);
    }
    isCurrent = true;
    return metadata.resourceVersion;
  }

  /** Follows the watch to its end; returns where it can be resumed, or undefined if it cannot. */
  async function followOnce(from: string): Promise<string | undefined> {
    let version: string | undefined = from;
    const query = `&watch=1&allowWatchBookmarks=true&timeoutSeconds=${WATCH_S}&resourceVersion=${from}`;
    await cluster.follow(
      `${path}${query}`,
      (line) => {
        const { type, object } = (line ?? {}) as Partial<WatchLine>;
        if (type === 'ERROR' || object?.metadata === undefined) {
          logger.info('the watch of pods is too old, all are listed again', { code: object?.code });
          version = undefined;
          return;
        }
        if (version !== undefined) version = object.metadata.resourceVersion ?? version;
        if (type === 'DELETED') markDeleted(object);
        else if (type !== 'BOOKMARK') {
          pods.set(object.metadata.uid, object);
          report(object);
        }
      },
      signal,
    );
    return version;
  }

  async function run(): Promise<void> {
    let version: string | undefined;
    let pauseMs = 0;
    while (!signal.aborted) {
      const startedAt = Date.now();
      try {
        version ??= await listAll();
        isCurrent = true;
        version = await followOnce(version);
        // A server that closes each watch at once must not be asked in a loop.
        pauseMs = Date.now() - startedAt < 1000 ? Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS) : 0;
      } catch (error) {
        if (error instanceof ClusterError) version = undefined;
        if (pauseMs === 0 && !signal.aborted)
          logger.warn('the watch of pods was interrupted', { reason: describeClusterProblem(error) });
        pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
      }
      isCurrent = false;
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  const running = run();

  return {
    /** The pods of a job that exist; undefined while the watch is interrupted. */
    find: (jobUid: string) => (isCurrent ? select(pods, jobUid) : undefined),
    /** The pods of a job that existed, as they were last. */
    findDeleted: (jobUid: string) => select(deleted, jobUid),
    onChange(listener: (pod: Pod) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close(): Promise<void> {
      closed.abort();
      await running;
    },
  };
}

function select(from: ReadonlyMap<string, Pod>, jobUid: string): readonly Pod[] {
  return [...from.values()].filter((pod) => getJobUid(pod) === jobUid);
}

/** Returns the UID of the job that a pod belongs to. */
function getJobUid({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.[0]?.uid;
}
