import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../base/index.js';
import { ClusterError, describeClusterProblem, type Cluster } from './cluster.js';
import { SELECTOR } from './manifest.js';
import type { List, Pod, WatchLine } from './objects.js';

/** The pods of all runs, as a watch reports them. */
export interface WatchedPods {
  /** The pods of a job that exist; undefined while the watch is interrupted. */
  find(jobUid: string): readonly Pod[] | undefined;
  /** The pods of a job that existed, as they were last. */
  findDeleted(jobUid: string): readonly Pod[];
  onChange(listener: (pod: Pod) => void): () => void;
  close(): Promise<void>;
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
export function watchPods(cluster: Cluster, logger: Logger): WatchedPods {
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

  function remove(pod: Pod): void {
    const { uid } = pod.metadata;
    pods.delete(uid);
    // The cluster deletes a pod without a node at once, without a time.
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date().toISOString();
    deleted.set(uid, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
    const [oldest] = deleted.keys();
    if (deleted.size > MAX_DELETED && oldest !== undefined) deleted.delete(oldest);
    report(pod);
  }

  async function listAll(): Promise<string> {
    const { items, metadata } = (await cluster.send('GET', path)) as List<Pod>;
    const found = new Set(items.map(({ metadata: { uid } }) => uid));
    for (const pod of pods.values()) if (!found.has(pod.metadata.uid)) remove(pod);
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
        if (type === 'DELETED') remove(object);
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
    find: (jobUid) => (isCurrent ? select(pods, jobUid) : undefined),
    findDeleted: (jobUid) => select(deleted, jobUid),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closed.abort();
      await running;
    },
  };
}

function select(from: ReadonlyMap<string, Pod>, jobUid: string): readonly Pod[] {
  return [...from.values()].filter((pod) => getJobUid(pod) === jobUid);
}

/** Returns the UID of the job that a pod belongs to. */
export function getJobUid({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.[0]?.uid;
}
