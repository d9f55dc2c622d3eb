import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect, inject, onTestFinished } from 'vitest';
import { installTools } from '../../scripts/install-tools.js';
import { PROJECT } from '../../scripts/run-tool.js';
import { createUlidGenerator, silentLogger, type Logger } from '../../src/base/index.js';
import { openKubernetesPlacement, type PlacedRun, type Placement } from '../../src/orders/placement/index.js';
import { openCluster, type Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import type { KubernetesSettings } from '../../src/orders/placement/kubernetes/settings.js';
import { BUNDLED_MAIN } from '../command-stage.js';
import { getServer, writeKubeconfig } from './control-plane.js';
import type { Images } from './pod-processes.js';

/** The folder of the control plane; empty without one: then its tests are not run. */
export const CONTROL_PLANE = inject('controlPlane');

const claimed = new Set<string>();

/** The names of services, which a cluster resolves, and the command `sluice` of an image. */
export const HOSTS_FILE = join(CONTROL_PLANE, 'hosts');
export const COMMAND_FILE = join(CONTROL_PLANE, 'sluice');

const bind = (path: string, at = path): readonly string[] => ['--ro-bind-try', path, at];

/** The images of the test node. */
export const IMAGES: Images = {
  'sleeps:1': () => ['sleep', '600'],
  // A worker that works, or exits at once if another one has the run.
  'claims:1': (command) => {
    const run = command[command.indexOf('--run') + 1] ?? '';
    if (claimed.has(run)) return ['false'];
    claimed.add(run);
    return ['sleep', '600'];
  },
  // The built command, and the agent's container with the programs of this host.
  'sluice:1': ([, ...args]) => [process.execPath, BUNDLED_MAIN, ...args],
  'agents:1': ([, ...args]) => [process.execPath, ...args],
  'ends:1': () => ['true'],
  'fails:1': () => ['false'],
  ...createDeployedImages(),
};

/** The images that the plain manifests name, with the programs of this host, for nodes that have bubblewrap. */
function createDeployedImages(): Images {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { readonly version: string };
  const system = ['/usr', '/bin', '/lib', '/lib64', '/etc/passwd', '/etc/group', '/etc/ssl', process.execPath];
  const base = [...system.flatMap((path) => bind(path)), ...bind(HOSTS_FILE, '/etc/hosts'), '--tmpfs', '/tmp'];
  const sluice = [
    // At its own path, which the bundled command contains; the optional package is found next to it.
    ...bind(PROJECT),
    ...bind(join(PROJECT, 'tools/kubernetes/node_modules'), join(PROJECT, '../node_modules')),
    ...bind(COMMAND_FILE, '/app/bin/sluice'),
  ];
  const path = `/app/bin:${process.env['PATH'] ?? ''}`;
  const env = { HOME: '/tmp', SLUICE_DATA: '/data', PATH: path };
  const product = { root: base, programs: sluice, entrypoint: ['sluice'], env };
  return {
    [`registry.example.org/sluice:${version}`]: product,
    [`registry.example.org/sluice-worker:${version}`]: product,
    [`registry.example.org/agents:${version}`]: { root: base, env: {} },
  };
}

/** Tolerations that make the node controller end a silent node's pods soon. */
export const IMPATIENT = ['unreachable', 'not-ready'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists' as const,
  effect: 'NoExecute',
  tolerationSeconds: 1,
}));

const newId = createUlidGenerator();

/** A run. */
export function makeRun(run: Partial<PlacedRun> = {}): PlacedRun {
  return { id: newId(), server: 'https://127.0.0.1:1', token: 'run-token', ...run };
}

/** Loads the client from its own folder: it is not one of the packages of `npm ci`. */
async function loadClient(): Promise<unknown> {
  const modules = await installTools('tools/kubernetes');
  return import(pathToFileURL(join(modules, '@kubernetes/client-node/dist/index.js')).href) as Promise<unknown>;
}

/** Connects as an administrator. */
export async function openAdmin(): Promise<Cluster> {
  return openCluster({ kubeconfig: join(CONTROL_PLANE, 'kubeconfig') }, loadClient);
}

/** The rights of a server's service account, in the namespace of its runs. */
const RULES = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
];
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** A namespace with a service account that has only the documented rights. */
export interface TestNamespace {
  readonly name: string;
  readonly kubeconfig: string;
  /** Takes the rights of the service account. */
  revoke(): Promise<void>;
  grant(): Promise<void>;
  /** Creates the namespace, with its role; for one that was deleted, again. */
  create(): Promise<void>;
  /** Lists the jobs, pods and secrets of runs that exist, as `KIND/NAME`. */
  listLeftovers(): Promise<readonly string[]>;
}

/**
 * Creates a namespace, and deletes it with everything in it when the test is over. The service account is in another
 * one, as that of a server whose runs have their own namespace.
 */
export async function makeNamespace(admin: Cluster): Promise<TestNamespace> {
  const name = `runs-${randomUUID().slice(0, 8)}`;
  const core = `/api/v1/namespaces/${name}`;
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  onTestFinished(async () => {
    for (const path of [core, `${RBAC}/clusterrolebindings/${name}`, `${accounts}/${name}`])
      await admin.send('DELETE', path).catch(() => undefined);
  });
  await admin.send('POST', accounts, { metadata: { name } });
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'default' }];
  const apiGroup = 'rbac.authorization.k8s.io';
  const bindings = `${RBAC}/namespaces/${name}/rolebindings`;
  const grant = async (): Promise<void> => {
    const roleRef = { apiGroup, kind: 'Role', name: 'sluice' };
    await admin.send('POST', bindings, { metadata: { name: 'sluice' }, roleRef, subjects });
  };
  const create = async (): Promise<void> => {
    await expect
      .poll(async () => admin.send('POST', '/api/v1/namespaces', { metadata: { name } }).then(() => '', String))
      .toBe('');
    await admin.send('POST', `${RBAC}/namespaces/${name}/roles`, { metadata: { name: 'sluice' }, rules: RULES });
    await grant();
    // Pods are refused until the cluster has created it.
    await expect.poll(async () => admin.send('GET', `${core}/serviceaccounts/default`)).toBeDefined();
  };
  await create();
  const nodeRules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }];
  await admin
    .send('POST', `${RBAC}/clusterroles`, { metadata: { name: 'sluice-nodes' }, rules: nodeRules })
    .catch(() => undefined);
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'sluice-nodes' };
  await admin.send('POST', `${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  const created = (await admin.send('POST', `${accounts}/${name}/token`, { spec: {} })) as {
    readonly status: { readonly token: string };
  };
  const kubeconfig = join(CONTROL_PLANE, `kubeconfig-${name}`);
  const { token } = created.status;
  await writeKubeconfig(CONTROL_PLANE, kubeconfig, { server: await getServer(CONTROL_PLANE), token, namespace: name });
  return {
    name,
    kubeconfig,
    create,
    grant,
    revoke: async () => void (await admin.send('DELETE', `${bindings}/sluice`)),
    async listLeftovers() {
      const kinds = [`/apis/batch/v1/namespaces/${name}/jobs`, `${core}/pods`, `${core}/secrets`];
      const lists = await Promise.all(kinds.map(async (path) => listNames(admin, path)));
      return lists.flatMap((names, index) => names.map((each) => `${kinds[index]?.split('/').at(-1) ?? ''}/${each}`));
    },
  };
}

async function listNames(admin: Cluster, path: string): Promise<readonly string[]> {
  const selector = encodeURIComponent('app.kubernetes.io/managed-by=sluice');
  const { items } = (await admin.send('GET', `${path}?labelSelector=${selector}`)) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return items.map(({ metadata }) => metadata.name);
}

/** A connection to the API server that can be cut: the kubeconfig of a namespace, with another address. */
export async function openLine({ kubeconfig: original }: TestNamespace) {
  const server = await getServer(CONTROL_PLANE);
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  let isCut = false;
  const listener = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    sockets.add(socket);
    pipeline(socket, upstream, socket, () => void sockets.delete(socket));
    if (isCut) socket.destroy();
  }).listen(0, hostname);
  await once(listener, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    listener.close();
  });
  const kubeconfig = `${original}-line`;
  const address = `https://${hostname}:${(listener.address() as AddressInfo).port}`;
  await writeFile(kubeconfig, (await readFile(original, 'utf8')).replaceAll(server, address));
  return { kubeconfig, cut, restore: () => void (isCut = false) };
}

/** Opens the placement as the service account of a namespace. */
export async function openPlacement(
  { kubeconfig }: Pick<TestNamespace, 'kubeconfig'>,
  settings: KubernetesSettings = {},
  logger: Logger = silentLogger,
): Promise<Placement> {
  const images = { worker_image: 'claims:1', image: 'ends:1' };
  const placement = await openKubernetesPlacement({ kubeconfig, ...images, ...settings }, { load: loadClient, logger });
  onTestFinished(async () => placement.close?.());
  return placement;
}
