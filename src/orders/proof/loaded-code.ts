import { posix } from 'node:path';
import { isTestPath } from './changes.js';
import { isNamed } from './command-lines.js';

/** Code whose imports can be followed. */
const CODE = /\.(?:[cm]?[jt]sx?|json|py|rb|pl|php|lua)$/;
/** Lines that can import a file, as an extended regular expression for `git grep`; languages differ in the rest. */
export const IMPORT_LINES = String.raw`((^|[^A-Za-z0-9_.])(require|require_relative|require_once|include|include_once|import|from|load|do|dofile|source)[^A-Za-z0-9_].*["']\.{0,2}/?[A-Za-z0-9_]|^[[:space:]]*(from|import)[[:space:]]+[A-Za-z0-9_.]+)`;

/** Folders and names of code that checks consist of. */
const CHECK_FOLDER =
  /^(?:\.?ci|scripts?|tools?|tooling|checks?|checkers?|verify|verification|validation|qa|e2e|harness|testing|test-?utils?|test-?helpers?|hack)$/i;
const CHECK_NAME =
  /(?:^|[._-])(?:checks?|checker|verify|verifier|assert|assertions?|expect|harness|mocks?|stubs?)(?:[._-]|$)/i;

/** Whether code is part of what checks, by its folder or its name. */
export function isCheckCode(path: string): boolean {
  const folders = path.split('/').slice(0, -1);
  return folders.some((name) => CHECK_FOLDER.test(name)) || CHECK_NAME.test(posix.basename(path));
}

/** Code that a check's scripts load. */
export interface LoadedCode {
  /** Parts of the check: code in folders or with names of checks. */
  readonly parts: readonly string[];
  /**
   * All other code by the file that the check itself loads first, without what several of them load: the product, unless
   * it is a part of the check with another name.
   */
  readonly branches: readonly (readonly string[])[];
}

/** More code than the scripts of any check load. */
const MAX_LOADED = 2000;

/** Finds the code that the scripts of a check load, directly or through each other. */
export function findLoaded(
  scripts: readonly string[],
  imports: Readonly<Record<string, readonly string[]>>,
): LoadedCode {
  const paths = Object.keys(imports);
  const known = new Set(paths);
  const found = new Map<string, readonly string[]>();
  const list = (path: string): readonly string[] => {
    const listed = found.get(path) ?? (imports[path] ?? []).flatMap((line) => findImported(path, line, known));
    found.set(path, listed);
    return listed;
  };
  const named = scripts.filter((name) => !/^\*+$/.test(name));
  const starts = paths.filter((path) => named.some((name) => isNamed(path, name)));
  // A check consists of its scripts, and of everything with such a name that they load.
  const check = follow(starts, (path) => list(path).filter((each) => isCheckCode(each) || isTestPath(each)));
  const first = [...new Set([...check].flatMap(list))].filter((path) => !check.has(path));
  const all = first.map((path) => follow([path], list));
  const branches = all.map((branch, index) =>
    [...branch].filter((path) => !check.has(path) && all.every((other, at) => at === index || !other.has(path))),
  );
  const behind = all.flatMap((branch) => [...branch]).filter((path) => isCheckCode(path));
  const isPart = (path: string): boolean => !starts.includes(path) && !isTestPath(path);
  return {
    parts: [...new Set([...check, ...behind])].filter(isPart),
    branches: branches.map((branch) => branch.filter((path) => !isCheckCode(path))).filter(({ length }) => length > 0),
  };
}

function follow(starts: readonly string[], list: (path: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set(starts);
  for (const path of found) {
    for (const each of list(path)) if (found.size < MAX_LOADED) found.add(each);
  }
  return found;
}

const ENDINGS = '.js .cjs .mjs .ts .cts .mts .jsx .tsx .json .py .rb .pl .php .lua'.split(' ');
const MAX_LINE_LENGTH = 1000;

/** Lists the files that a line of code imports, among those that are known. */
function findImported(path: string, line: string, known: ReadonlySet<string>): readonly string[] {
  const text = line.slice(0, MAX_LINE_LENGTH);
  const names = path.endsWith('.py') ? listModules(path, text) : listRelative(path, text);
  return [
    ...new Set(
      names.flatMap((name) => {
        const typed = name.replace(/\.([cm]?)js(x?)$/, '.$1ts$2');
        const stems = [name, `${name}/index`, `${name}/__init__`];
        const candidates = [name, typed, ...stems.flatMap((stem) => ENDINGS.map((ending) => stem + ending))];
        return candidates.filter((each) => each !== path && known.has(each));
      }),
    ),
  ];
}

/** Every quoted path in a line: `require('./a')`, `import a from '../a.js'`, `require_relative 'a'`. */
function listRelative(path: string, text: string): readonly string[] {
  const isScript = /\.(?:[cm]?[jt]sx?|json)$/.test(path);
  return [...text.matchAll(/["']([\w@./-]{1,300})["']/g)]
    .map(([, name = '']) => name)
    .filter((name) => !isScript || /^\.{1,2}(?:\/|$)/.test(name))
    .map((name) => posix.join(posix.dirname(path), name));
}

/** The modules that a line of Python imports, in every folder from which they can come. */
function listModules(path: string, text: string): readonly string[] {
  const [, from = '', names = ''] = /^\s*from\s+([\w.]+)\s+import\s+([\w\s,.()]*)/.exec(text) ?? [];
  const [, plain = ''] = from === '' ? (/^\s*import\s+([\w\s,.]+)/.exec(text) ?? []) : [];
  const modules =
    from === '' ? splitNames(plain) : [from, ...splitNames(names).map((name) => `${from.replace(/\.$/, '')}.${name}`)];
  return modules.flatMap((module) => {
    const [, dots = '', rest = ''] = /^(\.*)([^]*)$/.exec(module) ?? [];
    const name = rest.replaceAll('.', '/').replace(/^\//, '');
    if (dots !== '') return [posix.join(posix.dirname(path), '../'.repeat(dots.length - 1), name)];
    return listParents(path).map((folder) => posix.join(folder, name));
  });
}

function splitNames(list: string): readonly string[] {
  return list.split(/[,()\s]+/).filter((word) => /^\w[\w.]*$/.test(word) && word !== 'as');
}

/** The folder of a file, and those that contain it. */
function listParents(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/')).concat('.');
}

/** Whether a file is code whose imports can be followed. */
export function isCode(path: string): boolean {
  return CODE.test(path) && !path.split('/').includes('node_modules');
}
