import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bundleProgram } from '../bundle-program.js';
import { makeFolder } from '../temporary-folder.js';
import { createPostgresServer, SURVIVES_KILLS } from './postgres-server.js';
import type { PostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX } from './sweep-leftovers.js';

const PRINTING_SCRIPT = 'i=0; while [ $i -lt 10 ]; do echo "line $i of $1"; sleep 0.03; i=$((i+1)); done\n';
/** Records that it was started, works briefly and reports its instructions as the status. */
const AGENT_SCRIPT = `echo "$SLUICE_ISSUE_REF $SLUICE_RUN_ID" >> "$SLUICE_REPO_DIR/effects"
sleep 0.1
printf '{"issue_ref":"%s","run_id":"%s","status":"%s","changes":{},"tests":"n/a","summary":"Done."}' \
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" "$SLUICE_INSTRUCTIONS" > "$SLUICE_RUN_DIR/work_result.json"
`;

/** A database with outages, a server that is never restarted, and workers that are killed. */
export interface SoakSite {
  readonly folder: string;
  readonly database: PostgresServer;
  /** The Sluice server's URL. */
  readonly url: string;
  readonly server: ChildProcess;
  /** Kills a random worker and starts another. */
  replaceWorker(): Promise<void>;
}

/** The number of working folders; only one run at a time uses each. */
export const WORK_FOLDERS = 8;
const WORKERS = 2;
const PROGRAM = new URL('./fixtures/soak-program.js', import.meta.url);

/** Creates a site for the current test. */
export async function makeSoakSite({ isDurable }: { readonly isDurable: boolean }): Promise<SoakSite> {
  const databaseFolder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const database = await createPostgresServer(databaseFolder, isDurable ? [] : SURVIVES_KILLS);
  await database.start();
  const folder = await realpath(
    await makeFolder({ 'print.sh': PRINTING_SCRIPT, 'agent.sh': AGENT_SCRIPT, 'data/.keep': '' }),
  );
  for (let number = 0; number < WORK_FOLDERS; number += 1)
    await mkdir(join(folder, 'work', String(number)), { recursive: true });
  const program = await bundleProgram(PROGRAM);
  const children = new Set<ChildProcess>();
  const start = async (role: string): Promise<{ child: ChildProcess; line: string }> => {
    const child = program.start([role, database.url, folder]);
    children.add(child);
    const [output] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
    if (!Buffer.isBuffer(output)) throw new Error(`the ${role} exited unexpectedly`);
    return { child, line: output.toString().trim() };
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
  onTestFinished(async () => {
    await Promise.all([...children].map(kill));
    await database.stop();
    await rm(databaseFolder, { recursive: true, force: true });
  });
  const server = await start('server');
  const workers: ChildProcess[] = [];
  for (let count = 0; count < WORKERS; count += 1) workers.push((await start('worker')).child);
  return {
    folder,
    database,
    url: server.line,
    server: server.child,
    async replaceWorker() {
      const [worker] = workers.splice(Math.floor(Math.random() * workers.length), 1);
      if (worker !== undefined) await kill(worker);
      workers.push((await start('worker')).child);
    },
  };
}

/** Measures a process's memory in bytes and its open file descriptors. */
export async function measureProcess(pid: number): Promise<{ readonly bytes: number; readonly descriptors: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? '0';
  return { bytes: Number(kilobytes) * 1024, descriptors: (await readdir(`/proc/${pid}/fd`)).length };
}
