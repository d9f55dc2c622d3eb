import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a private git directory without any configuration in an empty folder. Equivalent to `git init --bare`, but
 * without a process: every order needs several such directories.
 */
export async function makeGitDir(folder: string, format: string, shallow: string | null = null): Promise<void> {
  const extensions = FORMATS.get(format);
  if (extensions === undefined)
    throw new Error(`cannot initialize a temporary git repository: unknown object format ${format}`);
  const config = `[core]\n\trepositoryformatversion = ${extensions === '' ? 0 : 1}\n\tbare = true\n${FILES}${extensions}`;
  await Promise.all([
    mkdir(join(folder, 'objects', 'info'), { recursive: true }),
    mkdir(join(folder, 'refs', 'heads'), { recursive: true }),
    writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n'),
    writeFile(join(folder, 'config'), config),
    shallow === null ? undefined : writeFile(join(folder, 'shallow'), shallow),
  ]);
}

/** Configuration lines for each object format; only version 1 of a repository has extensions. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['sha1', ''],
  ['sha256', '[extensions]\n\tobjectformat = sha256\n'],
]);

/** Properties of the file system that git detects when it creates a repository. */
const FILES =
  {
    darwin: '\tignorecase = true\n\tprecomposeunicode = true\n',
    win32: '\tfilemode = false\n\tsymlinks = false\n\tignorecase = true\n',
  }[process.platform as string] ?? '';
