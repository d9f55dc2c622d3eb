import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, readSmallFile } from '../../files/index.js';
import type { ProcessIdentity } from './process-identity.js';
import { RECORD_ENDING } from './process-record.js';

/** A record as it was found. */
export interface FoundRecord {
  readonly path: string;
  readonly owner: ProcessIdentity;
  readonly runDir: string;
  /** Undefined if the crash came between the start and its note. */
  readonly process: ProcessIdentity | undefined;
}

const RECORD_BYTES = 64 * 1024;
/** A record that nobody could read or judge for this long is swept away. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** Reads all records of a folder; none if there is no such folder. */
export async function readProcessRecords(folder: string): Promise<FoundRecord[]> {
  const names = await readdir(folder).catch(() => []);
  const found: FoundRecord[] = [];
  for (const name of names.filter((entry) => entry.endsWith(RECORD_ENDING))) {
    const path = join(folder, name);
    const text = await readSmallFile(path, RECORD_BYTES).catch(() => undefined);
    const record = text === undefined ? undefined : parseRecord(path, text);
    if (record === undefined) await sweepOld(path);
    else found.push(record);
  }
  return found;
}

/** Removes a record that is of no use to anybody any more. */
export async function sweepOld(path: string): Promise<void> {
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
