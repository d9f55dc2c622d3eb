import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/files/index.js';
import { describeGitFailure, runGit, type GitResult, type GitOptions } from './run-git.js';

const LONG = { timeLimitMs: 300_000 };
/** About six million objects. */
const MAX_LISTING = 256 * 1024 * 1024;
/** The maximum number of commits between two commits. */
const MAX_COMMITS = 10_000;

export interface WantedObjects {
  /** The object folder of the agent's repository. */
  readonly objects: string;
  /** Commits to copy with their files. */
  readonly commits: readonly string[];
  /** Two commits; commits between them are copied too, without files. */
  readonly between?: readonly [string, string];
  /** Copies only folders, not file contents. */
  readonly withoutFiles?: boolean;
}

/**
 * Copies objects from an agent's repository into a private git directory, each under the hash of its content. Git
 * itself trusts object file names: an agent could put other content there, and a seemingly unchanged check would run
 * it. Returns an error if an object is missing afterwards.
 */
export async function copyObjects(
  gitDir: string,
  { objects, commits, between, withoutFiles = false }: WantedObjects,
): Promise<{ readonly error?: string }> {
  const call = async (args: readonly string[], extraOptions: GitOptions = {}): Promise<GitResult> =>
    runGit(gitDir, args, { ...LONG, gitDir, maxBytes: MAX_LISTING, ...extraOptions });
  const alternates = join(gitDir, 'objects', 'info', 'alternates');
  await makeFolder(join(gitDir, 'objects', 'info'));
  await writeFile(alternates, `${objects}\n`);
  try {
    const filter = withoutFiles ? ['--filter=blob:none'] : [];
    const [list, range] = await Promise.all([
      call(['rev-list', '--objects', '--no-object-names', '--no-walk', ...filter, ...commits]),
      between === undefined
        ? { code: 0, stdout: '' }
        : call(['rev-list', `--max-count=${MAX_COMMITS + 1}`, between[1], `^${between[0]}`]),
    ]);
    if (list.code !== 0 || range.code !== 0) return { error: 'its objects could not be listed' };
    const names = [...new Set(`${list.stdout}${range.stdout}`.split('\n').filter(Boolean))];
    if (range.stdout.split('\n').length > MAX_COMMITS + 1) return { error: 'it has too many commits' };
    return await packObjects(gitDir, alternates, names, call);
  } finally {
    await rm(alternates, { force: true });
  }
}

async function packObjects(
  gitDir: string,
  alternates: string,
  names: readonly string[],
  call: (args: readonly string[], extraOptions?: GitOptions) => Promise<GitResult>,
): Promise<{ readonly error?: string }> {
  const folder = join(gitDir, 'objects', 'pack');
  await makeFolder(folder);
  const input = `${names.join('\n')}\n`;
  const packed = await call(['pack-objects', '--quiet', '--window=0', join(folder, 'copied')], { input });
  if (packed.code !== 0) return { error: `its objects could not be read: ${describeGitFailure(packed)}` };
  await rm(alternates, { force: true });
  const files = await readdir(folder);
  // The index was built from the names in the agent's repository, so rebuild it from the content.
  for (const file of files.filter((each) => !each.endsWith('.pack'))) await rm(join(folder, file), { force: true });
  for (const file of files.filter((each) => each.endsWith('.pack'))) {
    const indexed = await call(['index-pack', join(folder, file)]);
    if (indexed.code !== 0) return { error: `its objects are damaged: ${describeGitFailure(indexed)}` };
  }
  const listing = await call(['cat-file', '--batch-check=%(objectname)'], { input });
  const missing = listing.stdout.split('\n').find((line) => line.endsWith(' missing'));
  if (listing.code !== 0 || missing !== undefined)
    return { error: 'the content of its objects does not match their names' };
  return {};
}
