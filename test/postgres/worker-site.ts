import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../../scripts/run-tool.js';
import { bundleProgram, type BundledProgram } from '../bundle-program.js';
import { makeFolder } from '../temporary-folder.js';
import { startNetwork, type Network } from './cut-network.js';
import { makeSite } from './fresh-database.js';
import { findFreePort } from './postgres-server.js';
import { WORKER_TOKEN } from './worker-token.js';

/** How workers reach the queue: with a connection to the database, or through a server. */
export type Route = 'database' | 'https';

/** Workers in separate processes that share a database and a data folder. */
export interface WorkerSite {
  readonly url: string;
  /** The data folder of the workers, or of their server. */
  readonly data: string;
  /** The server of workers that have no database, and the network to it. */
  readonly server?: SiteServer | undefined;
  /** Repositories to work in; only one order at a time uses each. */
  readonly repositories: readonly string[];
  /** A git repository that orders share, each in its own worktree. */
  readonly shared: string;
  startWorker(): StartedWorker;
  /** One line per execution of an agent: issue and run id. */
  readEffects(): Promise<string[]>;
  /** When each order reached each stage, as written by `recordStages`. */
  readStages(): Promise<string[]>;
}

export interface StartedWorker {
  readonly child: ChildProcess;
  /** Resolves once the worker claims orders or has exited. */
  readonly ready: Promise<unknown>;
  readonly isReady: boolean;
}

/** A server in a separate process. */
export interface SiteServer {
  /** The port without the network between. */
  readonly port: number;
  readonly network: Network;
  readonly process: StartedWorker;
  /** Kills the server and starts it again at the same address. */
  restart(): Promise<void>;
}

const PROGRAM = new URL('./fixtures/worker-program.js', import.meta.url);
const SERVER_PROGRAM = new URL('./fixtures/server-program.js', import.meta.url);
const EFFECT_AGENT = join(PROJECT, 'test/postgres/fixtures/effect-agent.sh');

export interface SiteOptions {
  readonly url?: string;
  readonly route?: Route;
  /** Whether the clocks of workers and of their server are set to other times again and again. */
  readonly hasJumpingClocks?: boolean;
  /** Workers per process, each with its own connections. */
  readonly workersPerProcess?: number;
  readonly leaseMs?: number;
  readonly reconcileMs?: number;
  /** The maximum number of concurrent orders across all workers; 0 for no limit. */
  readonly atOnce?: number;
}

/** Creates a site for the current test. */
export async function makeWorkerSite(repositoryCount: number, options: SiteOptions = {}): Promise<WorkerSite> {
  const [url, folder] = [options.url ?? (await makeSite()), await makeFolder({ effects: '', stages: '' })];
  const program = await bundleProgram(PROGRAM);
  const repositories = Array.from({ length: repositoryCount }, (_, index) =>
    join(folder, 'repositories', String(index)),
  );
  for (const repository of repositories) await mkdir(repository, { recursive: true });
  const shared = join(folder, 'shared');
  await makeRepository(shared);
  const data = join(folder, 'data');
  const effects = join(folder, 'effects');
  const stages = join(folder, 'stages');
  // Short leases, so a killed worker's orders are found quickly.
  const { workersPerProcess = 1, leaseMs = 2000, reconcileMs = 500, atOnce = 0 } = options;
  const clock = options.hasJumpingClocks === true ? ['jumping'] : [];
  const numbers = [...[workersPerProcess, leaseMs, reconcileMs, atOnce].map(String), ...clock];
  const files = [EFFECT_AGENT, effects, stages];
  const server =
    options.route === 'https'
      ? await startServer([url, data, ...files], [...[leaseMs, atOnce].map(String), ...clock], folder)
      : undefined;
  const args =
    server === undefined
      ? [url, data, ...files, ...numbers]
      : [`https://localhost:${server.network.port}`, join(folder, 'worker'), ...files, ...numbers];

  return {
    url,
    data,
    server,
    repositories,
    shared,
    startWorker: () => startProcess(program, args),
    readEffects: async () => readLines(effects),
    readStages: async () => readLines(stages),
  };
}

function startProcess(program: BundledProgram, args: readonly string[]): StartedWorker {
  const child = program.start(args);
  let isReady = false;
  child.stdout.once('data', () => {
    isReady = true;
  });
  return {
    child,
    ready: Promise.race([once(child.stdout, 'data'), once(child, 'exit')]),
    get isReady() {
      return isReady;
    },
  };
}

/** Starts a server for workers without a database, whose data folder is `worker` in this folder. */
async function startServer(
  [url = '', data = '', ...files]: readonly string[],
  numbers: readonly string[],
  folder: string,
): Promise<SiteServer> {
  await mkdir(join(folder, 'worker'));
  await writeFile(join(folder, 'worker', 'token'), WORKER_TOKEN);
  const program = await bundleProgram(SERVER_PROGRAM);
  const port = await findFreePort();
  const start = async (): Promise<StartedWorker> => {
    const started = startProcess(program, [url, data, ...files, String(port), ...numbers]);
    await started.ready;
    return started;
  };
  let current = await start();
  return {
    port,
    network: await startNetwork(port),
    get process() {
      return current;
    },
    async restart() {
      const { child } = current;
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      current = await start();
    },
  };
}

async function makeRepository(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'README.md'), 'Shared.\n');
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  for (const step of ['init --quiet --initial-branch=main', 'add .', 'commit --quiet -m Begin']) {
    await promisify(execFile)('git', ['-C', folder, ...identity, ...step.split(' ')]);
  }
}

async function readLines(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').slice(0, -1);
}
