import { randomUUID } from 'node:crypto';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../files/index.js';
import type { ProcessIdentity } from './process-identity.js';
import { identifyOwnProcess } from './process-identity.js';

/** The environment variable by which every process of a run can be known. */
export const RUN_MARKER = 'SLUICE_RUN_DIR';

/** What a file in the folder of processes is called. */
export const RECORD_ENDING = '.process';

/** The note that a process runs, for whoever comes after a crash. */
export interface ProcessRecord {
  /** Adds who it is, right after the start. */
  started(identity: ProcessIdentity): Promise<void>;
  /** Takes the note back when the process and its group are gone. */
  forget(): Promise<void>;
}

/**
 * Notes down, before the start, that this process will start one for a run; its environment must carry `SLUICE_RUN_DIR`
 * with this folder. A crash between start and `started` leaves the marker to find it by.
 *
 * @example
 * const record = await recordProcess(join(data, 'processes'), runDir);
 * const running = await startProcess(command);
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
