import { randomUUID } from 'node:crypto';
import { appendFile, rm, writeFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, parseJson, readSmallFile } from '../../files/index.js';
import { identifyOwnProcess } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';

/** The environment variable that identifies every process of a run. */
export const RUN_MARKER = 'SLUICE_RUN_DIR';

/** The extension of process records. */
const RECORD_ENDING = '.process';

/** A record of a running process, for the Sluice that starts after a crash. */
export interface ProcessRecord {
  /** Adds the identity of the process, right after the launch. */
  started(identity: ProcessIdentity): Promise<void>;
  /** Removes the record when the process and its group are gone. */
  forget(): Promise<void>;
}

/**
 * Records, before the launch, that this process will launch one for a run; its environment must carry `SLUICE_RUN_DIR`
 * with this folder. After a crash between launch and `started`, the process is found by that marker.
 *
 * @example
 * const record = await recordProcess(join(data, 'processes'), runDir);
 * const running = await launchProcess(command);
 * await record.started(running.identity);
 */
export async function recordProcess(folder: string, runDir: string): Promise<ProcessRecord> {
  await makeFolder(folder);
  const path = join(folder, `${randomUUID()}${RECORD_ENDING}`);
  // Two lines, each written at once: a crash between leaves a record that can be read.
  await writeFile(path, line({ owner: await identifyOwnProcess(), run_dir: runDir }), { flag: 'wx', mode: 0o600 });
  return {
    async started(identity) {
      await appendFile(path, line({ process: identity }));
    },
    async forget() {
      await rm(path, { force: true });
    },
  };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** A record that was read. */
export interface FoundRecord {
  readonly path: string;
  readonly owner: ProcessIdentity;
  readonly runDir: string;
  /** Undefined if the crash came between the launch and `started`. */
  readonly process: ProcessIdentity | undefined;
}

const RECORD_BYTES = 64 * 1024;
/** A record that could not be read or judged for this long is removed. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** Reads all records of a folder; none if there is no such folder. */
export async function readProcessRecords(folder: string): Promise<FoundRecord[]> {
  const names = await readdir(folder).catch(() => []);
  const found: FoundRecord[] = [];
  for (const name of names.filter((entry) => entry.endsWith(RECORD_ENDING))) {
    const path = join(folder, name);
    const text = await readSmallFile(path, RECORD_BYTES).catch(() => undefined);
    const record = text === undefined ? undefined : parseRecord(path, text);
    if (record === undefined) await removeOld(path);
    else found.push(record);
  }
  return found;
}

/** Removes a record that is too old to be useful. */
export async function removeOld(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > FORGOTTEN_MS) await rm(path, { force: true });
}

function parseRecord(path: string, text: string): FoundRecord | undefined {
  const [first, second] = text.split('\n').map(parseJson);
  // In a container Sluice itself may be the first process; what it starts never is.
  const owner = readIdentity(field(first, 'owner'), 1);
  const runDir = field(first, 'run_dir');
  if (owner === undefined || typeof runDir !== 'string' || runDir === '') return undefined;
  return { path, owner, runDir, process: readIdentity(field(second, 'process'), 2) };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function readIdentity(value: unknown, least: number): ProcessIdentity | undefined {
  const pid = field(value, 'pid');
  const started = field(value, 'started');
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < least) return undefined;
  return { pid, started: typeof started === 'string' ? started : null };
}
