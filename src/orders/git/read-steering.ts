import type { NamedCheck } from '../proof/checks.js';
import { isTestPath, listPaths, type FileChange } from '../proof/changes.js';
import type { OrderChange } from '../proof/judge-commit.js';
import { findLoaded, IMPORT_LINES, isCheckCode, isCode, type LoadedCode } from '../proof/loaded-code.js';
import type { KnownFiles } from '../proof/programs.js';
import { findRewritten, listPrograms, listScripts } from '../proof/rewritten-checks.js';
import { isSteeringPath, listLoaded } from '../proof/steering-files.js';
import type { CheckedOut } from './check-out.js';
import { withObjects, type RepositoryStart } from './repository.js';
import type { CallGit } from './run-git.js';

/** The effect of a change on a check. */
export interface CheckSteering {
  /** Files that the check runs, or that steer it, and that the change modifies. */
  readonly rewritten: readonly string[];
  /** Those of them that could be what the check tests. */
  readonly uncertain: readonly string[];
  /**
   * The files that decide whether the check passes, as they were before the change: with and without the file that
   * could be what it tests. Empty if the change modifies none.
   */
  readonly bases: readonly CheckBase[];
}

/** Files that decide whether a check passes, as they were before a change. */
export type CheckBase = NonNullable<CheckedOut['base']> & {
  /** They can also be what the check tests, so they say nothing if the check failed before the change. */
  readonly isProduct?: boolean;
};

/** More than any project has: files that configure runners, each, and rounds in which scripts call each other. */
const MAX_FILES = 50;
const MAX_ROUNDS = 20;
/** Configuration is shorter; the rest is not searched. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_SEARCHED = 64 * 1024;
/** The maximum size of a list of about 500,000 files. */
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** Finds how a change steers checks, by the name of the check. */
export async function readSteering(
  start: RepositoryStart,
  checks: readonly NamedCheck[],
  change: OrderChange,
): Promise<ReadonlyMap<string, CheckSteering>> {
  return withObjects(start, async (call) => {
    const { commit, files } = change;
    const from = change.from ?? change.base;
    const listed = await listFiles(call, commit);
    const paths = listed ?? ['package.json'];
    const packages = await readPackages(call, change, from, paths);
    const loaded: string[] = [];
    for (const path of pickTop(paths, (each) => isSteeringPath(each) && !/(?:^|\/)(?:vendor|\.yarn)\//.test(each)))
      loaded.push(...listLoaded(path, (await readText(call, commit, path))?.slice(0, MAX_SEARCHED) ?? ''));
    const addsTests = files.some(({ kind, path }) => kind === 'added' && isTestPath(path));
    const hadTests = addsTests && (await listFiles(call, from))?.some(isTestPath) !== false;
    const steering = new Map<string, CheckSteering>();
    const changed = files.filter(({ kind }) => kind !== 'added').map(({ path, oldPath = path }) => oldPath);
    const imports = changed.some(isCode) ? await readImports(call, from) : {};
    for (const check of checks) {
      const known = { ...packages, loaded: [...packages.loaded, ...loaded] };
      const texts = listed === undefined ? undefined : await readScripts(call, commit, check, known, paths);
      // Without the text of every script, any file can be one that they run.
      const found =
        texts === undefined
          ? { files: listPaths(files), uncertain: listPaths(files) }
          : findRewritten(check, files, { ...known, texts });
      const code = listLoadedCode(listPrograms(check, { ...known, texts: texts ?? {} }), imports, changed);
      const rewritten = [...new Set([...found.files, ...code.parts])];
      const isTooMuch = code.branches.length > MAX_BRANCHES;
      const uncertain = [...new Set([...found.uncertain, ...(isTooMuch ? code.branches.flat() : [])])];
      const deciding = [
        rewritten,
        ...(found.uncertain.length === 1 ? [rewritten.filter((path) => path !== found.uncertain[0])] : []),
      ];
      const bases = deciding.flatMap((each) => listDeciding(each, files, hadTests) ?? []);
      const others = changed.filter((path) => !rewritten.includes(path) && !isTestPath(path));
      const products = code.branches
        // All other files together are the state before the change.
        .filter((branch) => !isTooMuch && others.some((path) => !branch.includes(path)))
        .flatMap((branch) => listDeciding([...rewritten, ...branch], files, hadTests) ?? []);
      steering.set(check.name, {
        rewritten,
        uncertain,
        bases: [
          ...bases.map((base) => ({ commit: from, ...base })),
          ...products.map((base) => ({ commit: from, ...base, isProduct: true })),
        ],
      });
    }
    return steering;
  });
}

/** More than a change to what a script tests modifies; beyond them, a person decides. */
const MAX_BRANCHES = 8;

/** Lists the changed files among those that a check's scripts load; if it is not known what they load, by their names. */
function listLoadedCode(
  programs: readonly string[],
  imports: Readonly<Record<string, readonly string[]>> | undefined,
  changed: readonly string[],
): LoadedCode {
  if (imports === undefined)
    return { parts: changed.filter((path) => isCode(path) && isCheckCode(path)), branches: [] };
  const pick = (paths: readonly string[]): readonly string[] => paths.filter((path) => changed.includes(path));
  const { parts, branches } = findLoaded(programs, imports);
  return { parts: pick(parts), branches: branches.map(pick).filter(({ length }) => length > 0) };
}

/** Finds the lines of each code file in a commit that can import others; undefined if there are too many. */
async function readImports(
  call: CallGit,
  commit: string,
): Promise<Readonly<Record<string, readonly string[]>> | undefined> {
  const listed = await listFiles(call, commit);
  if (listed === undefined) return undefined;
  const imports: Record<string, string[]> = Object.fromEntries(listed.filter(isCode).map((path) => [path, []]));
  const flags = ['-I', '-z', '--full-name', '--threads=1', '-E', '-e', IMPORT_LINES];
  const searched = await call(['grep', ...flags, commit, '--', '.'], { maxBytes: MAX_LISTING_BYTES });
  // It exits with 1 if it finds nothing.
  if (searched.code !== 0 && searched.code !== 1) return undefined;
  for (const line of searched.stdout.split('\n')) {
    const [path = '', text = ''] = line.slice(commit.length + 1).split('\0');
    if (Object.hasOwn(imports, path)) imports[path]?.push(text);
  }
  return imports;
}

/** Lists the changed tests, and the changed files that steer a check, as they were before the change. */
function listDeciding(steering: readonly string[], files: readonly FileChange[], hadTests: boolean) {
  const rewritten = new Set(steering);
  const restored: string[] = [];
  const removed: string[] = [];
  for (const { kind, path, oldPath = path } of files) {
    const isSteering = rewritten.has(path) || rewritten.has(oldPath);
    if (kind !== 'added' && (isSteering || isTestPath(oldPath))) restored.push(oldPath);
    // A new test can change what the others test, so they have to pass without it.
    const isNewTest = kind === 'added' && isTestPath(path) && hadTests;
    if (isNewTest || ((kind === 'added' || path !== oldPath) && isSteering)) removed.push(path);
  }
  return restored.length + removed.length === 0 ? undefined : { restored, removed };
}

/** Reads the shell scripts and makefiles that a check runs, directly or through each other; undefined if one is too large. */
async function readScripts(
  call: CallGit,
  commit: string,
  check: NamedCheck,
  known: KnownFiles,
  paths: readonly string[],
): Promise<Readonly<Record<string, string>> | undefined> {
  const texts: Record<string, string> = {};
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const scripts = listScripts(check, { ...known, texts }, paths);
    if (scripts.length === 0) return texts;
    for (const path of scripts) {
      const text = await readText(call, commit, path);
      if (text === undefined) return undefined;
      texts[path] = text;
    }
  }
  return undefined;
}

/** Lists the files of a commit; undefined if there are too many. */
async function listFiles(call: CallGit, commit: string): Promise<readonly string[] | undefined> {
  const listing = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit];
  const { code, stdout } = await call(listing, { maxBytes: MAX_LISTING_BYTES });
  return code === 0 ? stdout.split('\0').filter(Boolean) : undefined;
}

const getDepth = (path: string): number => path.split('/').length;

/** Picks the files that are nearest to the top, and none of installed packages. */
function pickTop(paths: readonly string[], isWanted: (path: string) => boolean): readonly string[] {
  return paths
    .filter((path) => isWanted(path) && !path.split('/').includes('node_modules'))
    .toSorted((one, other) => getDepth(one) - getDepth(other))
    .slice(0, MAX_FILES);
}

async function readText(call: CallGit, commit: string, path: string): Promise<string | undefined> {
  const { code, stdout } = await call(['cat-file', 'blob', `${commit}:${path}`], { maxBytes: MAX_FILE_BYTES });
  return code === 0 ? stdout : undefined;
}

/** Settings in `package.json` that steer what its packages are and how they are tested, besides its scripts. */
const RUNNER_SETTINGS = ['jest', 'vitest', 'mocha', 'ava', 'tap', 'c8', 'nyc', 'babel', 'ts-node'];
const SETTINGS = [...RUNNER_SETTINGS, 'scripts', 'imports', 'type', 'workspaces', 'overrides', 'resolutions', 'pnpm'];
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies'];

type Package = Readonly<Record<string, unknown>>;

function readPackage(text: string | undefined): Package | undefined {
  try {
    return text === undefined ? {} : { ...(JSON.parse(text) as object) };
  } catch {
    return undefined;
  }
}

function listEntries(value: unknown): readonly (readonly [string, string])[] {
  return Object.entries(value ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

const isPackage = (path: string): boolean => /(?:^|\/)package\.json$/.test(path);

/** Reads the scripts of a commit's packages, what their settings load, and which packages the change steers checks with. */
async function readPackages(
  call: CallGit,
  { commit, files }: OrderChange,
  from: string,
  paths: readonly string[],
): Promise<Required<Pick<KnownFiles, 'packageScripts' | 'changedPackages' | 'loaded'>>> {
  const packageScripts: Record<string, string> = {};
  const changedPackages: string[] = [];
  const loaded: string[] = [];
  const examined = pickTop(paths, isPackage);
  for (const path of examined) {
    const fields = readPackage(await readText(call, commit, path));
    for (const [name, line] of listEntries(fields?.['scripts']))
      packageScripts[name] = Object.hasOwn(packageScripts, name) ? `${packageScripts[name]}\n${line}` : line;
    const settings = JSON.stringify(Object.entries(fields ?? {}).filter(([key]) => RUNNER_SETTINGS.includes(key)));
    loaded.push(...listLoaded(path, settings.slice(0, MAX_SEARCHED)));
    const changed = files.find((file) => file.path === path);
    if (changed === undefined) continue;
    const before = readPackage(await readText(call, from, changed.oldPath ?? path));
    if (fields === undefined || describeSettings(fields) !== describeSettings(before)) changedPackages.push(path);
  }
  // One that was deleted, or is not examined, counts as changed.
  const others = files.filter(({ path }) => isPackage(path) && !examined.includes(path)).map(({ path }) => path);
  return { packageScripts, changedPackages: [...changedPackages, ...others], loaded };
}

/** Describes what decides how a package is tested: its settings, and packages that do not come from a registry. */
function describeSettings(fields: Package = {}): string {
  const local = DEPENDENCIES.map((key) => listEntries(fields[key]).filter(([, version]) => /[:/]/.test(version)));
  return JSON.stringify([SETTINGS.map((key) => fields[key] ?? null), local]);
}
