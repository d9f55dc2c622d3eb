import { posix } from 'node:path';
import type { Check } from './checks.js';
import { listPaths, type FileChange } from './changes.js';
import { isRunner, isSteeringPath } from './steering-files.js';

/** Commands that run the script or executable passed to them. */
const INTERPRETERS =
  /^(?:(?:ba|da|k|z)?sh|node|nodejs|bun|deno|tsx|ts-node|python\d?(?:\.\d+)?|ruby|perl|php|pwsh|lua|env|cross-env|exec|eval|command|time|source|\.|npx|sudo|doas|xargs|timeout|nice|nohup|setsid|stdbuf)$/;
const SHELL_KEYWORDS = /^(?:if|elif|then|else|do|while|until|!|\{)$/;
/** Numbers and durations after an interpreter: `timeout 30s`, `nice -n 10`. */
const AMOUNT = /^\d+(?:\.\d+)?[smhd]?$/;
/** Programs that run the scripts in `package.json`. */
const PACKAGE_MANAGERS = /^(?:npm|yarn|pnpm|bun|npm-run-all2?|run-[sp])$/;
/** Flags of interpreters whose next word is a file or a module, and not the script. */
const VALUE_FLAG = /^(?:-[rm]|--(?:require|import|(?:experimental-)?loader|env-file|test-reporter|tsconfig|preload))$/;
/** Commands and options that make a command work in another folder. */
const FOLDER_FLAG = /^(?:-C|--(?:prefix|cwd|dir|directory|chdir))$/;
const IN_OTHER_FOLDERS =
  /^(?:cd|pushd|-C|-w|-r|workspaces?|--(?:prefix|cwd|dir|directory|chdir|workspaces?|filter|recursive))(?:=|$)/;
/** Commands that read no configuration from the repository. */
const PLAIN_COMMANDS =
  /^(?:test|\[|\[\[|true|false|grep|egrep|cat|head|tail|wc|ls|diff|cmp|cd|pushd|popd|sleep|echo|printf|set|export|exit|find|sort|sed|awk|jq|fi|done|fail)$/;

/** The files that a check can run, as far as they are known. */
export interface KnownFiles {
  /** The scripts of the `package.json` files in the commit, by name; with one command line each. */
  readonly packageScripts?: Readonly<Record<string, string>>;
  /** Changed `package.json` files whose scripts or settings differ. */
  readonly changedPackages?: readonly string[];
  /** The text of shell scripts and makefiles in the commit, by path; empty if there is no such file. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The files that the configuration of runners loads: paths, whose endings may be missing. */
  readonly loaded?: readonly string[];
}

/**
 * Lists the changed files that a check runs or that steer it: its executable or script, the scripts in `package.json`
 * and the files they run, configuration of the test runner and what it loads before the tests, installed packages. If
 * any exist, the change controls the check's outcome, and passing it proves nothing.
 *
 * @example
 * listRewritten({ command: ['sh', 'check.sh'] }, files) // ['check.sh'] if the change touches it
 */
export function listRewritten(
  check: Pick<Check, 'command' | 'prepare'>,
  files: readonly FileChange[],
  known: KnownFiles = {},
): readonly string[] {
  const { executed, programs, isElsewhere } = traceCheck(check, known);
  const runsPackages = programs.some((name) => PACKAGE_MANAGERS.test(name) || /^(?:npx|node)$/.test(name));
  // A script, or a program that is not known, can run any of the others.
  const runners = programs.some(isOpaque) ? undefined : programs;
  const names = [...executed];
  return [...new Set(listPaths(files))].filter(
    (path) =>
      names.some((name) => isNamed(path, name, isElsewhere)) ||
      path.split('/').includes('node_modules') ||
      (runsPackages && known.changedPackages?.includes(path) === true) ||
      isSteeringPath(path, runners) ||
      known.loaded?.some((name) => isNamed(path, name, false)) === true,
  );
}

/** More than a check of any project runs. */
const MAX_SCRIPTS = 20;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const SCRIPT = /^(?!\/).*(?:\/[^/.]+|\.(?:ba)?sh)$|(?:^|\/)(?:[Mm]akefile|GNUmakefile)$/;

/**
 * Lists the shell scripts and makefiles that a check runs and whose text is not yet known: what they run steers the
 * check as well.
 *
 * @example
 * listScripts({ command: ['make', 'test'] }, {}) // ['GNUmakefile', 'makefile', 'Makefile']
 */
export function listScripts(check: Pick<Check, 'command' | 'prepare'>, known: KnownFiles): readonly string[] {
  const { texts = {} } = known;
  const scripts = [...traceCheck(check, known).scripts].filter((path) => SCRIPT.test(path));
  return scripts.filter((path) => !Object.hasOwn(texts, path)).slice(0, MAX_SCRIPTS);
}

/** Whether a path is what a command calls `name`, which may lack the ending of code. */
function isNamed(path: string, name: string, isElsewhere: boolean): boolean {
  const below = isElsewhere && !path.startsWith(name) ? path.lastIndexOf(`/${name}`) + 1 : 0;
  if (!path.startsWith(name, below)) return false;
  return /^(?:\.(?:[cm]?[jt]sx?|json|py|rb|sh))?$/.test(path.slice(below + name.length));
}

function isOpaque(program: string): boolean {
  return (
    ![PLAIN_COMMANDS, SHELL_KEYWORDS, INTERPRETERS, PACKAGE_MANAGERS].some((known) => known.test(program)) &&
    !isRunner(program)
  );
}

/** The commands that a check can reach. Each script is followed once: they can call each other, any number of times. */
interface Trace extends Required<Pick<KnownFiles, 'packageScripts' | 'texts'>> {
  /** Files that are named as programs, scripts or settings, relative to the top of the repository. */
  readonly executed: Set<string>;
  /** Those of them that could be scripts or makefiles, as paths. */
  readonly scripts: Set<string>;
  readonly programs: Set<string>;
  readonly seen: Set<string>;
  /** Whether commands run in other folders than the top. */
  isElsewhere: boolean;
}

function traceCheck({ command, prepare = [] }: Pick<Check, 'command' | 'prepare'>, known: KnownFiles) {
  const { packageScripts = {}, texts = {} } = known;
  const trace: Trace = {
    packageScripts,
    texts,
    executed: new Set(),
    scripts: new Set(),
    programs: new Set(),
    seen: new Set(),
    isElsewhere: false,
  };
  for (const each of [prepare, command]) traceCommand(each, '.', trace);
  if ([...trace.programs].some(isOpaque)) followPackageScripts(['test', 'test:*'], trace);
  return { ...trace, programs: [...trace.programs] };
}

/**
 * Traces a command: its executable, an interpreter's script, the files that its flags name, both within a shell command
 * line, and the same for the scripts of `package.json`, the shell scripts and the makefiles that it calls.
 */
function traceCommand(command: readonly string[], folder: string, trace: Trace): void {
  // What the next word can be: after a runner only flags matter, after another program also a command or a file.
  let expected: 'program' | 'script' | 'flags' | 'anything' = 'program';
  let flag = '';
  let cwd = folder;
  const name = (word: string, mains: readonly string[] = []): void => {
    const path = posix.normalize(word).replaceAll(/^(?:\.\.\/)+|\/$/g, '');
    for (const base of [path, posix.join(cwd, path)]) {
      for (const main of ['', ...mains]) trace.executed.add(posix.join(base, main));
      followScript(base, cwd, trace);
    }
  };
  for (const [index, word] of command.entries()) {
    if (IN_OTHER_FOLDERS.test(word)) trace.isElsewhere = true;
    // Assignments can come before an executable; flags and numbers between an interpreter and its script.
    if (/^\w+=\S*$/.test(word) || (index > 0 && AMOUNT.test(word))) continue;
    if (index > 0 && word.startsWith('-')) {
      const [, value = ''] = /^--?[\w-]+=(.+)$/.exec(word) ?? [];
      if (value !== '') name(value);
      flag = VALUE_FLAG.test(word) || FOLDER_FLAG.test(word) || expected === 'flags' ? word : '';
      continue;
    }
    if (index > 0 && /\s|[;&|]/.test(word)) return traceLine(word, cwd, trace);
    if (flag !== '') {
      if (flag === '-m') name(word.replaceAll('.', '/'), ['__main__']);
      else name(word);
      if (FOLDER_FLAG.test(flag)) cwd = posix.join(cwd, word);
      if (flag === '-m') expected = isRunner(word) ? 'flags' : 'anything';
      if (isMake(command[0]) && FOLDER_FLAG.test(flag)) followMakefiles(cwd, trace);
      flag = '';
      continue;
    }
    const program = posix.basename(word);
    const isInterpreter = INTERPRETERS.test(program) || SHELL_KEYWORDS.test(word);
    if (!isInterpreter && expected === 'flags') continue;
    const isFile = /[/.]/.test(word);
    if (!isInterpreter && expected === 'anything' && !isFile) continue;
    name(word, expected === 'script' ? ['index', '__main__'] : []);
    if (!isFile || expected === 'program') trace.programs.add(program);
    if (PACKAGE_MANAGERS.test(program)) followPackageScripts(command.slice(index + 1), trace);
    if (isMake(program)) followMakefiles(cwd, trace);
    if (isInterpreter) expected = 'script';
    else if (isFile || PLAIN_COMMANDS.test(program)) return;
    else expected = isRunner(program) && !PACKAGE_MANAGERS.test(program) ? 'flags' : 'anything';
  }
}

function isMake(program = ''): boolean {
  return /^g?make$/.test(posix.basename(program));
}

/** The scripts that an installation runs. */
const INSTALL = ['install', 'prepublish', 'prepare'];

/** The scripts that package managers run, if they are not named like the command. */
const LIFECYCLE: Readonly<Record<string, readonly string[]>> = {
  t: ['test'],
  tst: ['test'],
  ci: INSTALL,
  i: INSTALL,
  install: INSTALL,
  add: INSTALL,
  it: [...INSTALL, 'test'],
  cit: [...INSTALL, 'test'],
  'install-test': [...INSTALL, 'test'],
  'install-ci-test': [...INSTALL, 'test'],
};

function followPackageScripts(words: readonly string[], trace: Trace): void {
  const called = words.flatMap((word) => (Object.hasOwn(LIFECYCLE, word) ? (LIFECYCLE[word] ?? []) : [word]));
  const names = new Set(called.flatMap((word) => [`pre${word}`, word, `post${word}`]));
  const starts = called.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  for (const [script, line] of Object.entries(trace.packageScripts)) {
    if (names.has(script) || starts.some((start) => script.startsWith(start)))
      follow(`npm run ${script}`, [line], '.', trace);
  }
}

function followMakefiles(cwd: string, trace: Trace): void {
  for (const path of MAKEFILES.map((file) => posix.join(cwd, file))) {
    trace.executed.add(path);
    followScript(path, cwd, trace);
  }
}

function followScript(path: string, cwd: string, trace: Trace): void {
  trace.scripts.add(path);
  if (Object.hasOwn(trace.texts, path))
    follow(path, listLines(trace.texts[path] ?? '', /makefile$/i.test(path)), cwd, trace);
}

function follow(name: string, lines: readonly string[], cwd: string, trace: Trace): void {
  if (trace.seen.has(name)) return;
  trace.seen.add(name);
  for (const line of lines) traceLine(line, cwd, trace);
}

/** Lists the commands of a script, or the recipes of a makefile, which start with a tab, and the files it includes. */
function listLines(text: string, isMakefile: boolean): readonly string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const commands = isMakefile
    ? lines.flatMap((line) => {
        const [, included] = /^(?:-|s)?include\s+(.*)/.exec(line) ?? [];
        return included?.split(/\s+/).map((file) => `. ${file}`) ?? /^\t[@+-]*(.*)/.exec(line)?.[1] ?? [];
      })
    : lines;
  return commands.filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
}

function traceLine(line: string, folder: string, trace: Trace): void {
  let cwd = folder;
  for (const part of line.split(/[;&|()\n`]+/)) {
    const words = part.trim().split(/\s+/).map(unquote).filter(Boolean);
    if (words.length === 0) continue;
    traceCommand(words, cwd, trace);
    const [program, target] = words;
    if ((program === 'cd' || program === 'pushd') && target !== undefined) cwd = posix.join(cwd, target);
  }
}

function unquote(word: string): string {
  return word.replaceAll(/["'$]/g, '');
}
