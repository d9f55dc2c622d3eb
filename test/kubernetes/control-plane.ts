import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../scripts/run-tool.js';
import { findExecutable } from '../../src/base/files/index.js';

/** The programs of a control plane, in the order in which they start. */
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
type Program = (typeof PROGRAMS)[number];
type Command = readonly [string, ...string[]];

/** The file with the commands and processes, from which any process can restart one. */
const STATE_FILE = 'state.json';

interface State {
  readonly server: string;
  readonly token: string;
  readonly commands: Readonly<Record<Program, Command>>;
  readonly pids: Partial<Record<Program, number>>;
}

/**
 * Finds the programs in `KUBEBUILDER_ASSETS`, and etcd there, in PATH, or by installing it. Undefined if the variable is
 * not set or something is missing.
 */
async function findPrograms(names: readonly Program[]): Promise<Readonly<Record<Program, string>> | undefined> {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (folder === undefined || folder === '') return undefined;
  const search = { path: `${folder}:${process.env['PATH'] ?? ''}`, cwd: process.cwd() };
  const found: Partial<Record<Program, string>> = {};
  for (const name of names) {
    const path = (await findExecutable(name, search)) ?? (name === 'etcd' ? await installEtcd(search) : undefined);
    if (path === undefined) {
      process.stderr.write(`"${name}" is not in KUBEBUILDER_ASSETS, so the tests of Kubernetes are not run\n`);
      return undefined;
    }
    found[name] = path;
  }
  return found as Record<Program, string>;
}

async function installEtcd(search: Parameters<typeof findExecutable>[1]): Promise<string | undefined> {
  const apt = await findExecutable('apt-get', search);
  if (apt === undefined || process.getuid?.() !== 0) return undefined;
  process.stderr.write('installing etcd with apt-get\n');
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'etcd-server']]) {
    const { exitCode, stderr } = await run(apt, ['--quiet', ...args], search.cwd);
    if (exitCode !== 0) process.stderr.write(stderr);
  }
  return findExecutable('etcd', search);
}

/**
 * Until 1.22 the programs also listen on a fixed port, unless they are asked not to, and delete no finished jobs; later
 * the options are unknown.
 */
async function isOld(program: string): Promise<boolean> {
  const { stdout } = await run(program, ['--version'], process.cwd());
  return Number(/v1\.(\d+)/.exec(stdout)?.[1] ?? 99) < 23;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a control plane on loopback: etcd and API server; with `hasControllers` also controller manager and scheduler,
 * which notice a silent node after twenty seconds. Another node must not count as silent because this host is busy: a
 * cluster without any node that reports evicts nothing. Returns its folder, with a `kubeconfig` of an administrator;
 * undefined without the programs.
 */
export async function startControlPlane({ hasControllers = true } = {}): Promise<string | undefined> {
  const programs = await findPrograms(hasControllers ? PROGRAMS : ['etcd', 'kube-apiserver']);
  if (programs === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kubernetes-'));
  const [client, peer, api, manager, scheduler] = await Promise.all(Array.from({ length: 5 }, findPort));
  const token = randomBytes(16).toString('hex');
  const key = join(folder, 'sa.key');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await writeFile(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const kubeconfig = join(folder, 'kubeconfig');
  const server = `https://127.0.0.1:${api}`;
  await writeKubeconfig(folder, kubeconfig, { server, token, namespace: 'default' });
  const [store, members] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const isOldVersion = await isOld(programs['kube-apiserver']);
  const gates = isOldVersion ? ['--feature-gates=TTLAfterFinished=true'] : [];
  const local = (name: string, port: number | undefined) => [
    `--kubeconfig=${kubeconfig}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, name)}`,
    '--leader-elect=false',
    ...(isOldVersion ? ['--port=0'] : []),
  ];
  const commands: State['commands'] = {
    etcd: [
      programs.etcd,
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${store}`,
      `--advertise-client-urls=${store}`,
      `--listen-peer-urls=${members}`,
      `--initial-advertise-peer-urls=${members}`,
      `--initial-cluster=default=${members}`,
      '--unsafe-no-fsync',
    ],
    'kube-apiserver': [
      programs['kube-apiserver'],
      `--etcd-servers=${store}`,
      `--secure-port=${api}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${join(folder, 'certificates')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      '--api-audiences=api',
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=Node,RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--endpoint-reconciler-type=none',
      // Controllers would create the account that this plugin waits for.
      ...(hasControllers ? [] : ['--disable-admission-plugins=ServiceAccount']),
      ...gates,
    ],
    'kube-controller-manager': [
      programs['kube-controller-manager'],
      ...local('manager', manager),
      `--service-account-private-key-file=${key}`,
      `--root-ca-file=${join(folder, 'certificates', 'apiserver.crt')}`,
      '--use-service-account-credentials=true',
      '--node-monitor-grace-period=20s',
      '--node-monitor-period=1s',
      ...gates,
    ],
    'kube-scheduler': [programs['kube-scheduler'], ...local('scheduler', scheduler)],
  };
  await writeState(folder, { server, token, commands, pids: {} });
  guard(folder);
  try {
    await startProgram(folder, 'etcd');
    await startProgram(folder, 'kube-apiserver');
    await waitForServer(folder, '/readyz');
    if (!hasControllers) return folder;
    await startProgram(folder, 'kube-controller-manager');
    await startProgram(folder, 'kube-scheduler');
    await waitForServer(folder, '/api/v1/namespaces/default/serviceaccounts/default');
  } catch (error) {
    await stopControlPlane(folder);
    throw error;
  }
  return folder;
}

/** Ends the programs when this process ends without stopping them, even if it is killed: the pipe is closed then. */
function guard(folder: string): void {
  const program = `
const { readFileSync, rmSync } = process.getBuiltinModule('node:fs');
process.stdin.resume().once('close', () => {
  try {
    const { pids } = JSON.parse(readFileSync('${STATE_FILE}', 'utf8'));
    for (const pid of Object.values(pids)) try { process.kill(pid, 'SIGKILL'); } catch {}
    rmSync(process.cwd(), { recursive: true, force: true, maxRetries: 5 });
  } catch {}
});`;
  const child = spawn(process.execPath, ['-e', program], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}

/** Writes the kubeconfig of a user with a token. */
export async function writeKubeconfig(
  folder: string,
  file: string,
  { server, token, namespace }: { readonly server: string; readonly token: string; readonly namespace: string },
): Promise<void> {
  const authority = join(folder, 'certificates', 'apiserver.crt');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user', namespace } }],
    'current-context': 'test',
  };
  await writeFile(file, JSON.stringify(config));
}

/** Starts one program of a control plane, in its own process group. */
export async function startProgram(folder: string, name: Program): Promise<void> {
  const state = await readState(folder);
  const log = openSync(join(folder, `${name}.log`), 'a');
  const [program, ...args] = state.commands[name];
  const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['ignore', log, log] });
  child.unref();
  await writeState(folder, {
    ...state,
    pids: { ...state.pids, ...(child.pid === undefined ? {} : { [name]: child.pid }) },
  });
}

/** Ends one program of a control plane. */
export async function stopProgram(folder: string, name: Program, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const { pids } = await readState(folder);
  const pid = pids[name];
  if (pid === undefined) return;
  await waitUntil(() => !sendSignal(pid, signal));
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Ends all programs of a control plane and removes its folder. */
export async function stopControlPlane(folder: string): Promise<void> {
  for (const name of PROGRAMS.toReversed()) await stopProgram(folder, name);
  await rm(folder, { recursive: true, force: true });
}

/** Waits until the API server answers a path with success. */
export async function waitForServer(folder: string, path = '/readyz'): Promise<void> {
  const { server, token } = await readState(folder);
  const ask = async (): Promise<boolean> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}` };
      const sent = request(`${server}${path}`, { rejectUnauthorized: false, headers }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      sent.once('error', () => resolve(false));
      sent.end();
    });
  await waitUntil(ask);
}

/** Returns the address of the API server. */
export async function getServer(folder: string): Promise<string> {
  return (await readState(folder)).server;
}

const WAIT_MS = 90_000;

/** Waits until a condition holds. */
async function waitUntil(holds: () => boolean | Promise<boolean>, waitMs = WAIT_MS): Promise<void> {
  const until = Date.now() + waitMs;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`not within ${waitMs / 1000} s: ${holds.toString()}`);
    await sleep(100);
  }
}

async function readState(folder: string): Promise<State> {
  return JSON.parse(await readFile(join(folder, STATE_FILE), 'utf8')) as State;
}

async function writeState(folder: string, state: State): Promise<void> {
  await access(folder);
  await writeFile(join(folder, STATE_FILE), JSON.stringify(state));
}
