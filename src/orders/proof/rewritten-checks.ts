import { posix } from 'node:path';
import type { Check } from './checks.js';
import { isTestPath, listPaths, type FileChange } from './changes.js';
import {
  CODE_FLAG,
  FOLDER_FLAG,
  IN_OTHER_FOLDERS,
  LOADING_VARIABLE,
  MAX_WORD_LENGTH,
  NO_SCRIPT,
  VALUE_FLAG,
  isNamed,
  isUnknown,
  listSubstitutions,
  listTokens,
  loadsCode,
  readMakefile,
  splitCommands,
  toPattern,
} from './command-lines.js';
import {
  AMOUNT,
  FOLDER_RUNNERS,
  INTERPRETERS,
  PACKAGE_MANAGERS,
  PLAIN_COMMANDS,
  READERS,
  SHELL,
  WRAPPERS,
  isOpaque,
  type KnownFiles,
} from './programs.js';
import { isRunner, isSteeringPath, listLifecycle } from './steering-files.js';

/**
 * Lists the changed files that a check runs or that steer it: its executable or script, the scripts in `package.json`
 * and the files they run, configuration of the test runner and what it loads before the tests, installed packages. If
 * any exist, the change controls the check's outcome, and passing it proves nothing. If a check runs code that its
 * commands do not name, such as the output of another command, every file counts that a word of them could name. Those
 * that could be what the check tests, and not part of it, are `uncertain`.
 */
export function findRewritten(
  check: Pick<Check, 'command' | 'prepare'>,
  files: readonly FileChange[],
  known: KnownFiles = {},
): { readonly files: readonly string[]; readonly uncertain: readonly string[] } {
  const { executed, certain, programs, isElsewhere } = traceCheck(check, known);
  const runsPackages = programs.some((name) => PACKAGE_MANAGERS.test(name) || /^(?:npx|node)$/.test(name));
  // A script, or a program that is not known, can run any of the others.
  const runners = programs.some(isOpaque) ? undefined : programs;
  const names = [...executed];
  const parts = [...certain];
  const isPart = (path: string): boolean =>
    parts.some((name) => isNamed(path, name, isElsewhere)) ||
    path.split('/').includes('node_modules') ||
    (runsPackages && known.changedPackages?.includes(path) === true) ||
    isSteeringPath(path, runners) ||
    known.loaded?.some((name) => isNamed(path, name)) === true;
  const changed = [...new Set(listPaths(files))];
  const isUncertain = (path: string): boolean =>
    !isPart(path) && names.some((name) => isNamed(path, name, isElsewhere));
  const uncertain = changed.filter(isUncertain);
  return {
    files: changed.filter((path) => uncertain.includes(path) || isPart(path)),
    uncertain: uncertain.filter((path) => !isTestPath(path)),
  };
}

/** More than a check of any project runs or names. Beyond them, any file could be one. */
const MAX = { scripts: 20, depth: 20, steps: 20_000, patterns: 200, textLength: 64 * 1024 };
const ANY_FILE = '**';
const MAKE = /^g?make$/;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
/** Code in these languages loads the product as well as helpers of the check, so it is not followed. */
const OTHER_CODE = /\.(?:[cm]?[jt]sx?|json|py|rb|pl|php|lua|ps1|c|h|cc|cpp|rs|go|java|md)$/;

/**
 * Lists the shell scripts and makefiles, among the files of a commit, that a check runs and whose text is not yet
 * known: what they run steers the check as well.
 */
export function listScripts(
  check: Pick<Check, 'command' | 'prepare'>,
  known: KnownFiles,
  paths: readonly string[],
): readonly string[] {
  const { texts = {} } = known;
  const { executed } = traceCheck(check, known);
  const patterns = [...executed].filter((name) => name.includes('*'));
  // All files count, whatever the others run.
  if (executed.has(ANY_FILE)) return [];
  return paths
    .filter((path) => !OTHER_CODE.test(path) && !Object.hasOwn(texts, path))
    .filter((path) => executed.has(path) || patterns.some((name) => isNamed(path, name)))
    .slice(0, MAX.scripts);
}

/**
 * Lists the programs and scripts that a check starts: paths, with wildcards, whose endings may be missing. Files that
 * programs such as a test runner find by themselves are not among them.
 */
export function listPrograms(check: Pick<Check, 'command' | 'prepare'>, known: KnownFiles): readonly string[] {
  return [...traceCheck(check, known).scripts].filter((name) => name !== ANY_FILE);
}

/** The commands that a check can reach. Each script is followed once: they can call each other, any number of times. */
interface Trace extends Required<Pick<KnownFiles, 'packageScripts' | 'texts'>> {
  /** Files that are named as programs, scripts or settings, relative to the top of the repository; with wildcards. */
  readonly executed: Set<string>;
  /** Those of them that the check itself starts. */
  readonly certain: Set<string>;
  readonly programs: Set<string>;
  /** Those that are files, and the scripts of interpreters. */
  readonly scripts: Set<string>;
  readonly seen: Set<string>;
  /** All words of the commands, the files that they write, and the makefiles that they name. */
  readonly words: Set<string>;
  readonly written: Set<string>;
  readonly makefiles: Set<string>;
  /** Values of variables; undefined if they are not always the same. */
  readonly variables: Map<string, string | undefined>;
  /** Whether commands run in other folders than the top. */
  isElsewhere: boolean;
  /** Whether code is run that the commands do not name. */
  isUnreadable: boolean;
  patterns: number;
  steps: number;
  depth: number;
}

function traceCheck({ command, prepare = [] }: Pick<Check, 'command' | 'prepare'>, known: KnownFiles) {
  const { packageScripts = {}, texts = {} } = known;
  const trace: Trace = {
    packageScripts,
    texts,
    executed: new Set(),
    certain: new Set(),
    programs: new Set(),
    scripts: new Set(),
    seen: new Set(),
    words: new Set(),
    written: new Set(),
    makefiles: new Set(),
    variables: new Map(),
    isElsewhere: false,
    isUnreadable: false,
    patterns: 0,
    steps: 0,
    depth: 0,
  };
  for (const each of [prepare, command]) traceCommand(each, { cwd: '.' }, trace);
  if ([...trace.programs].some(isOpaque)) followPackageScripts(['test', 'test:*'], trace);
  const isUnreadable = trace.isUnreadable || [...trace.written].some((path) => trace.executed.has(path));
  // Naming a file follows it, which can add words.
  if (isUnreadable) {
    for (const word of trace.words) nameAll(word.replaceAll('*', '**'), '.', trace, ['**']);
    if (['*', './*', './'].some((word) => trace.words.has(word))) trace.executed.add(ANY_FILE);
  }
  return { ...trace, programs: [...trace.programs] };
}

/** Where a command runs, and whether another command prints its input. */
interface Place {
  readonly cwd: string;
  readonly isPiped?: boolean;
}

/** Adds a file that a command names, and follows it if its text is known. */
function nameFile(word: string, cwd: string, trace: Trace, mains: readonly string[] = []): void {
  const path = toPattern(word);
  if (path === '' || (path === ANY_FILE && word.length <= MAX_WORD_LENGTH)) return;
  if (path.includes('*')) trace.patterns += 1;
  trace.steps += 1;
  if (trace.steps > MAX.steps || trace.patterns > MAX.patterns) return void trace.executed.add(ANY_FILE);
  for (const base of new Set([path, posix.join(cwd, path)])) {
    for (const main of ['', ...mains])
      trace.executed.add(posix.join(main === '' ? base : base.replace(/^\*+\//, ''), main));
    const found = base.includes('*') ? Object.keys(trace.texts).filter((text) => isNamed(text, base)) : [base];
    for (const each of found) followScript(each, cwd, trace);
  }
}

/** Adds the program or script of a command; the one that a check starts is never what it tests. */
function nameProgram(word: string, cwd: string, trace: Trace, mains: readonly string[] = []): void {
  nameFile(word, cwd, trace, mains);
  const path = toPattern(word);
  for (const main of path === ANY_FILE ? [] : ['', ...mains]) {
    for (const base of [path, posix.join(cwd, path)]) {
      trace.scripts.add(posix.join(base, main));
      if (trace.depth === 1) trace.certain.add(posix.join(base, main));
    }
  }
}

/** Adds everything in a text that could name a file or a module. */
function nameAll(text: string, cwd: string, trace: Trace, mains: readonly string[] = []): void {
  for (const token of listTokens(text)) nameFile(token, cwd, trace, mains);
}

/** Adds the modules that code in a command loads. */
function nameScripts(code: string, cwd: string, trace: Trace): void {
  nameAll(code, cwd, trace);
  for (const token of listTokens(code)) if (/[./]/.test(token)) trace.scripts.add(posix.join(cwd, toPattern(token)));
}

/**
 * Traces a command: its executable, an interpreter's script, the files that its flags name, both within a shell command
 * line, and the same for the scripts of `package.json`, the shell scripts and the makefiles that it calls.
 */
function traceCommand(command: readonly string[], place: Place, trace: Trace): void {
  trace.steps += command.length;
  if (trace.steps > MAX.steps) return void trace.executed.add(ANY_FILE);
  if (trace.depth >= MAX.depth) return void (trace.isUnreadable = true);
  trace.depth += 1;
  const words = readWords(command, place.cwd, trace);
  const isPiped = place.isPiped === true || command.some((word) => /^\d*<+$/.test(word));
  traceWords(words, { ...place, isPiped }, trace);
  trace.depth -= 1;
}

/** Traces a command that others can wrap, such as `env` and `if`. */
function traceWords(words: readonly string[], place: Place, trace: Trace): void {
  let { cwd } = place;
  let flag = '';
  for (const [index, word] of words.entries()) {
    const program = posix.basename(word);
    if (index > 0 && (word.startsWith('-') || AMOUNT.test(word))) {
      flag = word;
    } else if (FOLDER_FLAG.test(flag)) {
      cwd = posix.join(cwd, word);
      flag = '';
    } else if (/\s/.test(word)) {
      traceLine(word, cwd, trace);
    } else if (WRAPPERS.test(program)) {
      trace.programs.add(program);
    } else {
      traceProgram(word, words.slice(index + 1), { ...place, cwd }, trace);
      // It could be the value of a flag: `timeout --signal KILL 30 node t.js`.
      if (!flag.startsWith('-') || !isOpaque(program)) return;
      flag = '';
    }
  }
}

/** Returns the words of a command without assignments and redirections, with known variables replaced. */
function readWords(command: readonly string[], cwd: string, trace: Trace): readonly string[] {
  const words: string[] = [];
  let redirection = '';
  for (const [index, raw] of command.entries()) {
    const word = raw.replaceAll(
      /\$(?:(\w+)|\{(\w+)[^}]*\})/g,
      (reference, short?: string, long?: string) => trace.variables.get(short ?? long ?? '') ?? reference,
    );
    if (word !== '.') trace.words.add(word);
    else if (index > 0) trace.words.add('*');
    if (IN_OTHER_FOLDERS.test(word)) trace.isElsewhere = true;
    for (const inner of listSubstitutions(word)) traceLine(inner, cwd, trace);
    const [, variable, value = ''] = /^(\w+)=([^]*)$/.exec(word) ?? [];
    if (variable !== undefined && words.every((each) => /^(?:env|cross-env|export|local|-.*)$/.test(each))) {
      if (LOADING_VARIABLE.test(variable)) nameAll(value, cwd, trace, ['*']);
      const isSame = !trace.variables.has(variable) || trace.variables.get(variable) === value;
      trace.variables.set(variable, isSame && !/[$*?]/.test(value) ? value : undefined);
    } else if (redirection === '' && !/^\d*[<>]+$/.test(word)) words.push(word);
    else if (redirection.includes('>')) trace.written.add(posix.join(cwd, toPattern(word)));
    redirection = /^\d*[<>]+$/.test(word) ? word : '';
  }
  return words;
}

function traceProgram(word: string, args: readonly string[], { cwd, isPiped = false }: Place, trace: Trace): void {
  const program = posix.basename(word);
  trace.programs.add(program);
  nameProgram(word, cwd, trace);
  if (isUnknown(word)) trace.isUnreadable = true;
  if (PLAIN_COMMANDS.test(program)) {
    if (args.some((arg) => /^-(?:exec|ok)/.test(arg))) trace.isUnreadable = true;
    const isScripted = /^(?:awk|sed|jq)$/.test(program);
    for (const [index, arg] of isScripted ? args.entries() : []) {
      if (isUnknown(arg)) trace.isUnreadable = true;
      if (/^-\w*f$/.test(args[index - 1] ?? '') || /^-f./.test(arg)) nameFile(arg.replace(/^-f/, ''), cwd, trace);
    }
  } else if (INTERPRETERS.test(program)) {
    if (PACKAGE_MANAGERS.test(program)) followPackageScripts(args, trace);
    traceInterpreter(program, args, cwd, trace);
  } else if (!word.includes('/') || !isOpaque(program)) {
    if (isPiped && !READERS.test(program)) trace.isUnreadable = true;
    traceArguments(program, args, cwd, trace);
  }
}

/** Traces the arguments of an interpreter: flags, then code or a script. Those that follow are data for it. */
function traceInterpreter(program: string, args: readonly string[], cwd: string, trace: Trace): void {
  if (args.includes('--test')) return traceArguments(program, args, cwd, trace);
  let flag = '';
  for (const [index, word] of args.entries()) {
    if (flag === '' && word.startsWith('-')) {
      nameAll(/^--?[\w-]+=([^]+)$/.exec(word)?.[1] ?? '', cwd, trace);
      if (VALUE_FLAG.test(word) || CODE_FLAG.test(word) || FOLDER_FLAG.test(word)) flag = word;
    } else if (flag === '-m') {
      nameProgram(word.replaceAll('.', '/'), cwd, trace, ['__main__']);
      trace.programs.add(word);
      return traceArguments(word, args.slice(index + 1), cwd, trace);
    } else if (CODE_FLAG.test(flag) || /\s/.test(word)) {
      if (isUnknown(word)) trace.isUnreadable = true;
      if (SHELL.test(program) || !CODE_FLAG.test(flag)) traceLine(word, cwd, trace);
      else if (loadsCode(word)) nameScripts(word, cwd, trace);
      return;
    } else if (flag !== '') {
      nameAll(word, cwd, trace);
      flag = '';
    } else {
      if (isUnknown(word)) trace.isUnreadable = true;
      nameProgram(word, cwd, trace, ['index', '__main__']);
      // Without an ending it can be a command, as in `deno run t.ts`.
      if (/[/.]/.test(word)) return;
      return traceArguments(word, args.slice(index + 1), cwd, trace);
    }
  }
  if (!args.some((word) => NO_SCRIPT.test(word))) trace.isUnreadable = true;
}

/** Traces the arguments of a program that can run what they name: files, and other commands. */
function traceArguments(program: string, args: readonly string[], cwd: string, trace: Trace): void {
  let folder = cwd;
  let flag = '';
  for (const [index, word] of args.entries()) {
    const isShort = /^-[Cf]./.test(word);
    const [, name = '', value = ''] = (isShort ? /^(-.)(.+)$/ : /^(--?[\w-]+)=([^]+)$/).exec(word) ?? [];
    const option = value === '' ? flag : name;
    const named = value === '' ? word : value;
    flag = word.startsWith('-') && value === '' ? word : '';
    if (flag !== '') continue;
    if (FOLDER_FLAG.test(option)) {
      folder = posix.join(folder, toPattern(named));
      if (isUnknown(named)) folder = '**';
    }
    if (isUnknown(named) && isRunner(program)) trace.isUnreadable = true;
    if (MAKE.test(program) && VALUE_FLAG.test(option)) trace.makefiles.add(posix.join(folder, named));
    if (/\s/.test(named)) traceLine(named, folder, trace);
    if (!READERS.test(program) || option !== '')
      nameAll(named, folder, trace, FOLDER_RUNNERS.test(program) ? ['*'] : []);
    if (/\s/.test(named) || option.startsWith('--') || isOpaque(named)) continue;
    if (PLAIN_COMMANDS.test(named) || READERS.test(named)) continue;
    // Another command, as in `uv run python t.py`.
    traceCommand(args.slice(index), { cwd: folder }, trace);
    break;
  }
  if (PACKAGE_MANAGERS.test(program)) followPackageScripts(args, trace);
  if (MAKE.test(program)) for (const file of MAKEFILES) nameFile(file, folder, trace);
}

function followPackageScripts(words: readonly string[], trace: Trace): void {
  const called = words.flatMap(listLifecycle);
  const names = new Set(called.flatMap((word) => [`pre${word}`, word, `post${word}`]));
  const starts = called.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  for (const [script, line] of Object.entries(trace.packageScripts)) {
    if (names.has(script) || starts.some((start) => script.startsWith(start)))
      follow(`npm run ${script}`, line, '.', trace);
  }
}

function followScript(path: string, cwd: string, trace: Trace): void {
  const text = Object.hasOwn(trace.texts, path) ? (trace.texts[path] ?? '') : '';
  // Only shells run what other code would import.
  if (/^#!(?!.*\b(?:ba|da|k|z)?sh\b)/.test(text)) return;
  if (text.length > MAX.textLength) return void trace.executed.add(ANY_FILE);
  const isMakefile = /(?:makefile|\.mk|\.inc)$/i.test(path) || trace.makefiles.has(path);
  follow(path, isMakefile ? readMakefile(text) : text, cwd, trace);
}

function follow(name: string, text: string, cwd: string, trace: Trace): void {
  if (text === '' || trace.seen.has(name)) return;
  trace.seen.add(name);
  traceLine(text, cwd, trace);
}

function traceLine(text: string, folder: string, trace: Trace): void {
  let cwd = folder;
  for (const { words, isPiped } of splitCommands(text)) {
    if (cwd.length > MAX_WORD_LENGTH) return void trace.executed.add(ANY_FILE);
    traceCommand(words, { cwd, isPiped }, trace);
    const [program, target] = words;
    if ((program === 'cd' || program === 'pushd') && target !== undefined && !target.includes('$'))
      cwd = posix.join(cwd, target);
  }
}
