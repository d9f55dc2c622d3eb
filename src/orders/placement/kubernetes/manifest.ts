import { createHash } from 'node:crypto';
import { omitUndefined } from '../../../base/index.js';
import { createSidecar, PlacementError } from '../../../runs/sandbox/index.js';
import type { PlacedRun } from '../port.js';
import type { Metadata } from './objects.js';
import type { KubernetesSettings } from './settings.js';

/** The labels of everything that belongs to a run. */
export const RUN_LABEL = 'sluice.run';
const ORDER_LABEL = 'sluice.order';
/** Selects the jobs and pods of this installation. */
export const SELECTOR = 'app.kubernetes.io/managed-by=sluice';
const MANAGED = { 'app.kubernetes.io/managed-by': 'sluice', 'app.kubernetes.io/name': 'sluice-run' };

const TOKEN_KEY = 'token';
/** Neither root nor users of the node. The group is common to both, so that they can share the workspace. */
const [WORKER_USER, AGENT_USER, GROUP] = [10_001, 10_002, 10_000];
/** The resources of the worker's container; checks run in the agent's. */
const WORKER_RESOURCES = { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } };
const WORKSPACE = '/workspace';
const SOCKET_FOLDER = '/run/sluice';
const TOKEN_FOLDER = '/run/sluice-token';
const SOCKET = `${SOCKET_FOLDER}/agent.sock`;
/** Time for a debugger to look at a finished job. */
const TTL_S = 3600;
/** The time of a pod after the request to end, if it is not ended by `stop`. */
const GRACE_S = 30;

/** Returns the name of a run's job. */
export function getJobName(run: string): string {
  return `sluice-${run.toLowerCase()}`;
}

/** The secret of an earlier try of the run can still exist, with a token that has ended. */
function getSecretName({ id, token }: Pick<PlacedRun, 'id' | 'token'>): string {
  return `${getJobName(id)}-${createHash('sha256').update(token).digest('hex').slice(0, 10)}`;
}

/**
 * Renders the job of a run: a pod with a container for the worker and one for the agent, which have different users and
 * share only the workspace and the socket through which the worker starts the agent. Kubernetes might start a job's pod
 * twice; the server refuses the second claim, and that pod exits. Throws `PlacementError` without an image.
 */
export function renderJob(run: PlacedRun, settings: KubernetesSettings): object {
  const image = run.image ?? settings.image;
  const workerImage = settings.worker_image;
  if (image === undefined)
    throw new PlacementError('image', 'no image is named; name one in the run, or in "placements.kubernetes.image"');
  if (workerImage === undefined)
    throw new PlacementError(
      'image',
      'no image of the worker is named; name it in "placements.kubernetes.worker_image"',
    );
  const labels = { ...run.labels, ...MANAGED, [RUN_LABEL]: run.id, ...renderOrder(run.order) };
  const worker = {
    name: 'worker',
    image: workerImage,
    command: ['sluice', 'worker', '--server', run.server, '--run', run.id],
    args: ['--token-file', `${TOKEN_FOLDER}/${TOKEN_KEY}`, '--agent-socket', SOCKET],
    env: [
      { name: 'HOME', value: '/tmp' },
      { name: 'SLUICE_DATA', value: WORKSPACE },
    ],
    // The worker passes to the agent what its engine and "env" name, and masks the values.
    ...(run.secrets === undefined ? {} : { envFrom: run.secrets.map((name) => ({ secretRef: { name } })) }),
    resources: WORKER_RESOURCES,
    securityContext: renderSecurity(WORKER_USER),
    volumeMounts: [...renderMounts('worker-temporary'), { name: 'token', mountPath: TOKEN_FOLDER, readOnly: true }],
  };
  const agent = {
    name: 'agent',
    image,
    command: ['node', '-e', createSidecar(), '--', SOCKET],
    env: [{ name: 'HOME', value: '/home/agent' }],
    resources: renderResources(run, settings),
    securityContext: renderSecurity(AGENT_USER),
    volumeMounts: [...renderMounts('temporary'), { name: 'home', mountPath: '/home/agent' }],
  };
  const volumes = ['workspace', 'socket', 'home', 'temporary', 'worker-temporary'];
  const template = {
    metadata: { labels },
    spec: {
      restartPolicy: 'Never',
      // The agent must not get the cluster's own credentials.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE_S,
      securityContext: {
        runAsNonRoot: true,
        runAsGroup: GROUP,
        fsGroup: GROUP,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [worker, agent],
      volumes: [
        ...volumes.map((name) => ({ name, emptyDir: {} })),
        { name: 'token', secret: { secretName: getSecretName(run), defaultMode: 0o440 } },
      ],
      ...omitUndefined({
        runtimeClassName: settings.runtime_class,
        serviceAccountName: run.service_account ?? settings.service_account,
        nodeSelector: run.node_selector,
        tolerations: run.tolerations,
      }),
    },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: getJobName(run.id), labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: settings.ttl_s ?? TTL_S,
      template: settings.template === undefined ? template : merge(template, settings.template),
    },
  };
}

/** The pod security standard "restricted", and a root folder that cannot be written to. */
function renderSecurity(runAsUser: number): object {
  return {
    runAsUser,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  };
}

function renderMounts(temporary: string): readonly object[] {
  return [
    { name: 'workspace', mountPath: WORKSPACE },
    { name: 'socket', mountPath: SOCKET_FOLDER },
    { name: temporary, mountPath: '/tmp' },
  ];
}

/** Renders the secret with a run's token; the cluster deletes it with the job. */
export function renderSecret(run: Pick<PlacedRun, 'id' | 'token'>, job: Metadata): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: getSecretName(run),
      labels: { ...MANAGED, [RUN_LABEL]: run.id },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.name, uid: job.uid }],
    },
    immutable: true,
    stringData: { [TOKEN_KEY]: run.token },
  };
}

/** A label has at most 63 characters, and some that an order's id may contain are not allowed. */
function renderOrder(order: string | undefined): Readonly<Record<string, string>> {
  const value = order
    ?.replaceAll(/[^\w.-]/gu, '_')
    .slice(0, 63)
    .replaceAll(/^[^a-z\d]+|[^a-z\d]+$/giu, '');
  return value === undefined || value === '' ? {} : { [ORDER_LABEL]: value };
}

function renderResources({ cpu, memory, gpu }: PlacedRun, { gpu_resource = 'nvidia.com/gpu' }: KubernetesSettings) {
  const size = omitUndefined({
    cpu: cpu === undefined ? undefined : String(cpu),
    memory,
    [gpu_resource]: gpu === undefined ? undefined : String(gpu),
  });
  return { requests: size, limits: size };
}

/** Merges values of the configuration into a manifest. Lists whose entries have a name are merged by it. */
function merge(base: unknown, changes: unknown): unknown {
  if (isNamedList(base) && isNamedList(changes)) {
    const added = changes.filter(({ name }) => !base.some((entry) => entry.name === name));
    const merged = base.map((entry) => {
      const change = changes.find(({ name }) => name === entry.name);
      return change === undefined ? entry : merge(entry, change);
    });
    return [...merged, ...added];
  }
  if (!isPlainObject(base) || !isPlainObject(changes)) return changes;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes))
    merged[key] = Object.hasOwn(merged, key) ? merge(merged[key], value) : value;
  return merged;
}

function isNamedList(value: unknown): value is readonly { readonly name: unknown }[] {
  return Array.isArray(value) && value.every((entry) => isPlainObject(entry) && 'name' in entry);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
