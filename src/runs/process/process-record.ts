import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, parseJson, readSmallFile } from '../../base/files/index.js';
import { get, isRecord } from '../../events/index.js';
import { identifyOwnProcess, type ProcessIdentity } from './process-identity.js';

/** The environment variable that marks every process of a run. */
export const RUN_MARKER = 'SLUICE_RUN_DIR';

const RECORD_SUFFIX = '.process';

/**
 * Records that this process is about to launch a process for a run, with `SLUICE_RUN_DIR` set to `runDir` in its
 * environment. After a crash between the launch and `addProcess`, the launched process is found by that marker.
 */
export async function recordProcess(folder: string, runDir: string) {
  await makeFolder(folder);
  const path = join(folder, `${randomUUID()}${RECORD_SUFFIX}`);
  // Two lines, each written with one call: a crash in between leaves a readable record. Synchronous, because that takes
  // microseconds, and the thread pool ten times as long.
  const owner = await identifyOwnProcess();
  writeFileSync(path, formatLine({ owner, run_dir: runDir }), { flag: 'wx', mode: 0o600 });
  return {
    /** Adds the process's identity, right after the launch. */
    addProcess(identity: ProcessIdentity): void {
      appendFileSync(path, formatLine({ process: identity }));
    },
    /** Adds the name of a container before it is started: it outlives the process that is connected to it. */
    addContainer(name: string): void {
      appendFileSync(path, formatLine({ container: name }));
    },
    /** Removes the record once the process and its group have exited. */
    remove(): void {
      rmSync(path, { force: true });
    },
  };
}

function formatLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

export interface FoundRecord {
  readonly path: string;
  readonly owner: ProcessIdentity;
  readonly runDir: string;
  /** Undefined if the crash happened between the launch and `addProcess`. */
  readonly process: ProcessIdentity | undefined;
  readonly container: string | undefined;
}

const RECORD_BYTES = 64 * 1024;
/** A record that is unreadable or in an unknown state is removed after this time. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

export async function readProcessRecords(folder: string): Promise<FoundRecord[]> {
  const names = await readdir(folder).catch(() => []);
  const records: FoundRecord[] = [];
  for (const name of names.filter((entry) => entry.endsWith(RECORD_SUFFIX))) {
    const path = join(folder, name);
    const text = await readSmallFile(path, RECORD_BYTES).catch(() => undefined);
    const record = text === undefined ? undefined : parseRecord(path, text);
    if (record === undefined) await removeOld(path);
    else records.push(record);
  }
  return records;
}

export async function removeOld(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats !== undefined && Date.now() - stats.mtimeMs > MAX_AGE_MS) await rm(path, { force: true });
}

function parseRecord(path: string, text: string): FoundRecord | undefined {
  const [first = null, ...others] = text.split('\n').map((line) => {
    const value = parseJson(line);
    return isRecord(value) ? value : null;
  });
  // In a container, Sluice itself can have process id 1; the processes it starts never do.
  const owner = readIdentity(get.object(first, 'owner'), 1);
  const runDir = get.name(first, 'run_dir');
  if (owner === undefined || runDir === null) return undefined;
  const findLine = (key: string): object | null => others.find((line) => get.field(line, key) !== undefined) ?? null;
  return {
    path,
    owner,
    runDir,
    process: readIdentity(get.object(findLine('process'), 'process'), 2),
    container: get.string(findLine('container'), 'container') ?? undefined,
  };
}

function readIdentity(value: object | null, min: number): ProcessIdentity | undefined {
  const pid = get.integer(value, 'pid');
  return pid === null || pid < min ? undefined : { pid, started: get.string(value, 'started') };
}
