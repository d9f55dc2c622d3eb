/** One file of a change, as `git diff-tree --raw -z` lists it. */
export interface FileChange {
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly path: string;
  /** The previous path of a renamed file. */
  readonly oldPath?: string;
  readonly oldMode: string;
  readonly newMode: string;
  /** The object id of the new content. */
  readonly blob: string;
}

const KINDS: Readonly<Record<string, FileChange['kind']>> = { A: 'added', C: 'added', D: 'deleted', R: 'renamed' };

/** Parses the output of `git diff-tree -r --raw -z --no-abbrev`. */
export function parseChanges(raw: string): readonly FileChange[] {
  const parts = raw.split('\0');
  const changes: FileChange[] = [];
  for (let at = 0; at < parts.length;) {
    const head = /^:(\d{6}) (\d{6}) [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*$/.exec(parts[at] ?? '');
    if (head === null) break;
    const [, oldMode = '', newMode = '', blob = '', letter = ''] = head;
    const hasTwoPaths = letter === 'R' || letter === 'C';
    const first = parts[at + 1] ?? '';
    const path = hasTwoPaths ? (parts[at + 2] ?? '') : first;
    at += hasTwoPaths ? 3 : 2;
    changes.push({
      kind: KINDS[letter] ?? 'modified',
      path,
      ...(letter === 'R' ? { oldPath: first } : {}),
      oldMode,
      newMode,
      blob,
    });
  }
  return changes;
}

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing|testdata|fixtures)\//i;
const TEST_FILE =
  /(?:^|\/)(?:[^/]*[._-](?:tests?|specs?)\.[^/]+|(?:tests?|specs?)\.(?:[cm]?[jt]sx?|py|rb|rs|sh|php|lua|exs)|[^/]+\.(?:t|bats)|test_[^/]+|conftest\.py|[^/]+Tests?\.(?:java|kt|cs|scala|swift|php))$/;

/** Whether a file is a test, based on its folder or name. */
export function isTestPath(path: string): boolean {
  return TEST_FOLDER.test(path) || TEST_FILE.test(path);
}

const CI =
  /^(?:\.(?:github|gitlab|circleci|buildkite|woodpecker|forgejo|gitea|ci)\/|(?:\.gitlab-ci|\.travis|\.drone|\.appveyor|appveyor|azure-pipelines|bitbucket-pipelines|cloudbuild|codecov|\.codecov|\.pre-commit-config)\.ya?ml$|Jenkinsfile)/i;

/** Whether a path is CI configuration. */
export function isCiPath(path: string): boolean {
  return CI.test(path);
}

/** Lists the test files that a change removes: deleted, or moved to a path that no longer counts as a test. */
export function listDeletedTests(changes: readonly FileChange[]): readonly string[] {
  return changes.flatMap(({ kind, path, oldPath = path }) =>
    kind !== 'added' && isTestPath(oldPath) && (kind === 'deleted' || !isTestPath(path)) ? [oldPath] : [],
  );
}

/** Lists the paths that a change touches, including both paths of a renamed file. */
export function listPaths(changes: readonly FileChange[]): readonly string[] {
  return changes.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [oldPath, path]));
}

const SYMLINK = '120000';
const SUBMODULE = '160000';

/** Lists symbolic links that a change adds or modifies: their targets have to be checked. */
export function listLinks(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.filter(({ kind, newMode }) => kind !== 'deleted' && newMode === SYMLINK);
}

/** Lists submodules that a change adds, moves to another commit, or fetches from another URL. */
export function listSubmodules(changes: readonly FileChange[]): readonly string[] {
  return changes
    .filter(({ kind, newMode, path }) => kind !== 'deleted' && (newMode === SUBMODULE || path === '.gitmodules'))
    .map(({ path }) => path);
}

/**
 * Whether a symbolic link leads out of the repository. A target with `..` after a folder name counts as well, because
 * that folder might itself be a link.
 */
export function leavesRepository(path: string, target: string): boolean {
  if (target.startsWith('/') || target.includes('\\') || target.includes('\0')) return true;
  let depth = path.split('/').length - 1;
  let hasEntered = false;
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') hasEntered = true;
    else if (hasEntered) return true;
    else depth -= 1;
    if (depth < 0) return true;
  }
  return false;
}
