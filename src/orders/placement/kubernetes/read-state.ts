import type { PlacementCause } from '../../../events/index.js';
import type { PlacementReport } from '../port.js';
import type { ClusterEvent, FoundNode, Job, Pod } from './objects.js';

/** The facts that the API server knows about a run's place. */
export interface Evidence {
  /** Undefined if the cluster has no job with this name and UID. */
  readonly job: Job | undefined;
  /** The pods of the job that exist. */
  readonly pods: readonly Pod[];
  /** Pods of the job that existed, as they were last. */
  readonly deleted: readonly Pod[];
  /** The nodes of the pods, by name. */
  readonly nodes: ReadonlyMap<string, FoundNode>;
  /** Events about the job and its pods. */
  readonly events: readonly ClusterEvent[];
}

/** A failure of the place, in the cluster's own words. */
interface Failure {
  readonly cause: PlacementCause;
  readonly reason: string;
}

/** The taint by which an operator states that a node is off. */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/**
 * Determines the state of a run's place. `gone` needs proof that nothing runs: all containers reported as terminated by
 * their node, a pod that never had a node, or a node that was deleted or declared out of service. A pod that was deleted
 * without such a report, such as by force from a silent node, is `unknown`.
 */
export function readState(evidence: Evidence): PlacementReport {
  const { job, pods, deleted, nodes, events } = evidence;
  const all = [...deleted, ...pods];
  const failure = findFailure(evidence);
  if (all.some((pod) => !hasEnded(pod, nodes))) return readRunning(evidence, failure);
  if (all.length > 0) {
    // The job might still replace a deleted pod.
    const willReplace = job !== undefined && !isFinished(job) && pods.length === 0;
    return willReplace ? { state: 'pending', ...failure } : { state: 'gone', ...failure };
  }
  if (job === undefined) return { state: 'unknown', reason: 'the job and its pods no longer exist' };
  if (isFinished(job, ['Complete'])) return { state: 'gone' };
  if (isFinished(job)) return { state: 'unknown', reason: 'the pods of the job no longer exist' };
  const refused = events.findLast(({ reason }) => reason === 'FailedCreate')?.message;
  return {
    state: 'pending',
    ...failure,
    ...(failure === undefined && refused !== undefined ? { reason: refused } : {}),
  };
}

function readRunning({ job, pods, deleted, nodes }: Evidence, failure: Failure | undefined): PlacementReport {
  const missing = deleted.find((pod) => !hasEnded(pod, nodes));
  if (missing !== undefined) {
    const { nodeName = '' } = missing.spec ?? {};
    const reason = `the pod was deleted, but the node "${nodeName}" did not report its end`;
    return { state: 'unknown', cause: 'node_lost', reason };
  }
  const running = pods.filter((pod) => !hasEnded(pod, nodes));
  const silent = running.find(
    ({ spec, status }) => status?.reason === 'NodeLost' || isSilent(nodes.get(spec?.nodeName ?? '')),
  );
  if (silent !== undefined) {
    const reason = `the node "${silent.spec?.nodeName ?? ''}" does not answer`;
    return { state: 'unknown', cause: 'node_lost', reason };
  }
  if (running.some(isRunning)) return { state: 'alive' };
  const conditions = running.flatMap(({ status }) => status?.conditions ?? []);
  const unscheduled = conditions.find(
    ({ type, status, message }) => type === 'PodScheduled' && status === 'False' && message !== undefined,
  );
  const reason = failure?.reason ?? unscheduled?.message;
  if (job === undefined || running.some(({ metadata }) => metadata.deletionTimestamp !== undefined))
    return { state: 'alive' };
  return { state: 'pending', ...failure, ...(reason === undefined ? {} : { reason }) };
}

/** Whether a container of a pod was reported as running. */
export function isRunning({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true;
}

/** Whether there is proof that no process of a pod runs, or ever will. */
function hasEnded({ spec, status, metadata }: Pod, nodes: ReadonlyMap<string, FoundNode>): boolean {
  const { nodeName = '' } = spec ?? {};
  // Without a node it has never run; it can no longer get one once it is being deleted.
  if (nodeName === '') return metadata.deletionTimestamp !== undefined || status?.phase === 'Failed';
  const node = nodes.get(nodeName);
  if (node === 'absent' || (typeof node === 'object' && hasTaint(node))) return true;
  const statuses = status?.containerStatuses ?? [];
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (statuses.length === 0) return isOver && status.reason !== 'NodeLost';
  return statuses.every(({ state }) => state?.terminated !== undefined || (isOver && state?.waiting !== undefined));
}

function hasTaint({ spec }: Exclude<FoundNode, string | undefined>): boolean {
  return spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true;
}

/** The cluster sets this condition to `Unknown` when a node stops renewing its lease. */
function isSilent(node: FoundNode): boolean {
  if (typeof node !== 'object') return false;
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') === true;
}

function isFinished({ status }: Job, ends: readonly string[] = ['Complete', 'Failed']): boolean {
  return status?.conditions?.some(({ type, status: is }) => is === 'True' && ends.includes(type)) === true;
}

/** Reasons of a waiting container that only another image, or a registry that answers, can end. */
const IMAGE_REASONS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);
/** Reasons of a waiting container that will not start as it is configured. */
const START_REASONS: ReadonlySet<string> = new Set(['CreateContainerError', 'RunContainerError']);

/** Reasons for which the cluster itself ends a pod, as newer versions write them into the condition `DisruptionTarget`. */
const DISRUPTIONS: Readonly<Record<string, PlacementCause>> = {
  PreemptionByScheduler: 'preempted',
  DeletionByTaintManager: 'node_lost',
  DeletionByPodGC: 'node_lost',
  EvictionByEvictionAPI: 'evicted',
  TerminationByKubelet: 'evicted',
};

/** Finds out why a place failed; undefined if its process ended by itself, or nothing failed. */
function findFailure({ pods, deleted, nodes, events }: Evidence): Failure | undefined {
  const all = [...deleted, ...pods];
  for (const pod of all) {
    const failure = findPodFailure(pod, nodes.get(pod.spec?.nodeName ?? ''));
    if (failure !== undefined) return failure;
  }
  const findEvent = (...reasons: readonly string[]) => events.findLast(({ reason }) => reasons.includes(reason ?? ''));
  const preempted = findEvent('Preempted');
  if (preempted !== undefined) return { cause: 'preempted', reason: describe('preempted by another pod', preempted) };
  const evicted = findEvent('Evicted');
  const tainted = findEvent('TaintManagerEviction');
  const isDeleted = all.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (evicted !== undefined && isDeleted) return { cause: 'evicted', reason: describe('evicted', evicted) };
  if (tainted !== undefined && isDeleted)
    return { cause: 'node_lost', reason: 'its node did not answer for some time, or was tainted' };
  const refused = findEvent('FailedCreate')?.message;
  if (all.length === 0 && refused !== undefined && /quota/.test(refused)) return { cause: 'quota', reason: refused };
  // Its own process cannot be the reason if the pod was deleted while it ran.
  return isDeleted && all.some(({ status }) => status?.phase === 'Running' || status?.phase === 'Failed')
    ? { cause: 'evicted', reason: 'the pod was deleted while it ran' }
    : undefined;
}

function findPodFailure({ status, spec }: Pod, node: FoundNode): Failure | undefined {
  const states = status?.containerStatuses?.map(({ state }) => state) ?? [];
  if (states.some((state) => state?.terminated?.reason === 'OOMKilled'))
    return { cause: 'oom', reason: 'the pod used more than its memory' };
  const waiting = states.map((state) => state?.waiting).find((each) => each?.reason !== undefined);
  if (waiting?.reason !== undefined && IMAGE_REASONS.has(waiting.reason))
    return { cause: 'image', reason: describe(waiting.reason, waiting) };
  if (waiting?.reason !== undefined && START_REASONS.has(waiting.reason))
    return { cause: 'unknown', reason: describe(waiting.reason, waiting) };
  const reason = status?.reason ?? '';
  if (reason === 'Evicted') return { cause: 'evicted', reason: describe('evicted', status ?? {}) };
  if (reason === 'Preempting' || reason === 'Preempted')
    return { cause: 'preempted', reason: describe('preempted', status ?? {}) };
  // The node refused it when it arrived there.
  if (/^(?:OutOf|Unexpected|NodeAffinity|Terminated)/.test(reason))
    return { cause: 'evicted', reason: describe(reason, status ?? {}) };
  if (node === 'absent' || (typeof node === 'object' && hasTaint(node)) || reason === 'NodeLost')
    return { cause: 'node_lost', reason: `the node "${spec?.nodeName ?? ''}" was lost` };
  const disruption = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True');
  const cause = DISRUPTIONS[disruption?.reason ?? ''];
  return cause === undefined ? undefined : { cause, reason: describe(disruption?.reason ?? '', disruption ?? {}) };
}

function describe(what: string, { message }: { readonly message?: string }): string {
  return message === undefined || message === '' ? what : `${what}: ${message}`;
}
