import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { SluiceError } from '../../base/index.js';

/** Folders whose files OpenCode loads as programs. */
const PROGRAM_FOLDERS = ['plugin', 'plugins', 'tool', 'tools'].map((name) => join('.opencode', name));

/** Settings that may name programs to be loaded. */
const SETTINGS = ['opencode.json', 'opencode.jsonc'].flatMap((name) => [name, join('.opencode', name)]);

/** No settings are that long. */
const MOST_BYTES = 1024 * 1024;

/** A key can be written with escapes: such settings are not read any further. */
const SUSPICION = /plugin|\\u/iu;

/**
 * Refuses a folder from which OpenCode would load programs: it does so whatever it is told, shortly after its start.
 * Looks upwards too, as OpenCode does; the home folder is the user's own.
 */
export async function refuseProjectPrograms(workdir: string): Promise<void> {
  const home = homedir();
  for (let folder = workdir; ; folder = dirname(folder)) {
    const found = folder === home ? undefined : await findPrograms(folder);
    if (found !== undefined) {
      throw new SluiceError(
        'FOLDER_NOT_TRUSTED',
        `opencode would load programs of the folder because of ${found}; take it away, use another engine, or allow everything with permissions "bypass".`,
      );
    }
    if (folder === dirname(folder)) return;
  }
}

async function findPrograms(folder: string): Promise<string | undefined> {
  for (const name of PROGRAM_FOLDERS) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined)) !== undefined) return path;
  }
  for (const name of SETTINGS) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (!found.isFile() || found.size > MOST_BYTES || SUSPICION.test(await readFile(path, 'utf8'))) return path;
  }
  return undefined;
}
