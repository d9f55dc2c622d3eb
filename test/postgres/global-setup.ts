import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';
import { PROJECT } from '../../scripts/run-tool.js';
import { FOLDER_PREFIX, sweepLeftovers } from './sweep-leftovers.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The database `postgres` on the server that all test files share. */
    readonly postgresUrl: string;
  }
}

/** Starts one PostgreSQL server for all tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await sweepLeftovers(tmpdir());
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const program = [join(PROJECT, 'test/postgres/shared-server.ts'), folder];
  const server = spawn(process.execPath, ['--import', 'tsx', ...program], {
    cwd: PROJECT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  for await (const line of createInterface({ input: server.stdout })) {
    provide('postgresUrl', line);
    return async () => {
      server.stdin.end();
      await exited;
    };
  }
  throw new Error('the PostgreSQL server for the tests did not start: see above');
}
