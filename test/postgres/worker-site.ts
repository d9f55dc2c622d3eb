import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../../scripts/run-tool.js';
import { bundleProgram } from '../bundle-program.js';
import { makeFolder } from '../temporary-folder.js';
import { makeSite } from './fresh-database.js';

/** Workers in separate processes that share a database and a data folder. */
export interface WorkerSite {
  readonly url: string;
  readonly data: string;
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

const PROGRAM = new URL('./fixtures/worker-program.js', import.meta.url);
const EFFECT_AGENT = join(PROJECT, 'test/postgres/fixtures/effect-agent.sh');

export interface SiteOptions {
  readonly url?: string;
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
  const numbers = [workersPerProcess, leaseMs, reconcileMs, atOnce].map(String);
  const args = [url, data, EFFECT_AGENT, effects, stages, ...numbers];

  return {
    url,
    data,
    repositories,
    shared,
    startWorker() {
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
    },
    readEffects: async () => readLines(effects),
    readStages: async () => readLines(stages),
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
