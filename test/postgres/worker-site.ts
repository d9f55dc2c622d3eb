import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from '../../scripts/run-tool.js';
import { makeFolder } from '../temporary-folder.js';
import { makeSite } from './fresh-database.js';

/** A place where workers in processes of their own share a database and a data folder. */
export interface WorkerSite {
  readonly url: string;
  readonly data: string;
  /** Repositories to work in, since each takes one order at a time. */
  readonly repositories: readonly string[];
  startWorker(): StartedWorker;
  /** One line for every time a worker has done something that lasts: issue and run id. */
  readEffects(): Promise<string[]>;
}

export interface StartedWorker {
  readonly child: ChildProcess;
  /** Resolves when it takes orders, or has ended. */
  readonly ready: Promise<unknown>;
  readonly isReady: boolean;
}

const FIXTURES = join(PROJECT, 'test/postgres/fixtures');

/** Makes a site for the running test. */
export async function makeWorkerSite(repositoryCount: number): Promise<WorkerSite> {
  const [url, folder] = [await makeSite(), await makeFolder({ effects: '' })];
  const program = await bundleProgram(folder);
  const repositories = Array.from({ length: repositoryCount }, (_, index) =>
    join(folder, 'repositories', String(index)),
  );
  for (const repository of repositories) await mkdir(repository, { recursive: true });
  const [data, effects] = [join(folder, 'data'), join(folder, 'effects')];
  const args = [program, url, data, join(FIXTURES, 'effect-worker.sh'), effects];

  return {
    url,
    data,
    repositories,
    startWorker() {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
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
    async readEffects() {
      return (await readFile(effects, 'utf8')).split('\n').slice(0, -1);
    },
  };
}

/**
 * The program in one file, without types: workers are started often, and a second of starting would be a second of every
 * four they live. It stands as deep below the folder as a file of the package, which reads its own `package.json`.
 */
async function bundleProgram(folder: string): Promise<string> {
  const program = join(folder, 'dist', 'worker', 'program.mjs');
  await build({
    entryPoints: [join(FIXTURES, 'worker-program.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  await copyFile(join(PROJECT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return program;
}
