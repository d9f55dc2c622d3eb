import type { Check } from './checks.js';
import type { OrderChange } from './judge-commit.js';
import { listPaths } from './changes.js';

/** Commands that run the script or executable passed to them. */
const INTERPRETERS =
  /^(?:(?:ba|da|k|z)?sh|node|nodejs|bun|deno|tsx|ts-node|python\d?(?:\.\d+)?|ruby|perl|php|pwsh|lua|env|cross-env|exec|eval|command|time|source|\.|npx|sudo|doas|xargs|timeout|nice|nohup|setsid|stdbuf)$/;
const SHELL_KEYWORDS = /^(?:if|elif|then|else|do|while|until|!|\{)$/;
/** Numbers and durations after an interpreter: `timeout 30s`, `nice -n 10`. */
const AMOUNT = /^\d+(?:\.\d+)?[smhd]?$/;
const PACKAGE_MANAGERS = /^(?:npm|yarn|pnpm|bun)$/;
/** Words between a package manager and the name of a script. */
const RUN_WORDS = /^(?:run|run-script|rum|urn)$/;
/** Commands that read no configuration from the repository. */
const PLAIN_COMMANDS =
  /^(?:test|\[|\[\[|true|false|grep|egrep|cat|head|tail|wc|ls|diff|cmp|cd|sleep|echo|printf|set|export|exit|find|sort|sed|awk|jq|fi|done|fail)$/;

/** Programs that run tests, and the files that configure them or that they load before the tests. */
const STEERING: readonly (readonly [runner: RegExp, files: RegExp])[] = [
  [
    /^(?:npm|npx|yarn|pnpm|pnpx|bun|bunx|node|nodejs|deno|tsx|ts-node|vitest|jest|mocha|ava|tap|playwright|cypress|karma|tsc|eslint)$/,
    /(?:^|\/)(?:\.npmrc|\.yarnrc[^/]*|\.yarn\/.*|\.pnpmfile\.[cm]?js|pnpm-workspace\.yaml|bunfig\.toml|deno\.jsonc?|\.(?:mocha|nyc|c8|babel|swc|tap|eslint)rc[^/]*|(?:vitest|vite|jest|mocha|karma|playwright|cypress|ava|babel|webpack|rollup|eslint|swc|tap|wdio)\.(?:config|conf|setup|workspace|global)[^/]*|tsconfig[^/]*\.json|__mocks__\/.*)$/,
  ],
  [
    /^(?:python[\d.]*|pytest|py\.test|tox|nox|uv|poetry|hatch|pdm|pipenv|unittest)$/,
    /(?:^|\/)(?:conftest\.py|pytest\.ini|\.?pytest\.toml|tox\.ini|setup\.(?:cfg|py)|pyproject\.toml|noxfile\.py|(?:site|user)customize\.py|\.coveragerc|[^/]+\.pth|(?:_?pytest|pluggy|unittest|doctest|nose2?|tox|nox|coverage|runpy|site)(?:\.py|\/.*))$/,
  ],
  [/^(?:cargo|rustc)$/, /(?:^|\/)(?:Cargo\.toml|build(?:\.rs|\/.*\.rs)|\.cargo\/config[^/]*|rust-toolchain[^/]*)$/],
  [/^go$/, /(?:^|\/)(?:go\.mod|go\.work|vendor\/.*)$/],
  [/^(?:g?make|just|task|rake)$/, /(?:^|\/)(?:gnumakefile|makefile|[^/]+\.mk|\.?justfile|taskfile\.ya?ml|rakefile)$/i],
  [
    /^(?:mvnw?|gradlew?|ruby|rspec|bundle|php|phpunit|composer|dotnet)$/,
    /(?:^|\/)(?:pom\.xml|[^/]+\.gradle(?:\.kts)?|gradle\.properties|\.mvn\/.*|\.rspec|spec_helper\.rb|Gemfile|phpunit\.xml[^/]*|Directory\.Build\.\w+|[^/]+\.runsettings)$/,
  ],
];
/** Files that can steer any command: variables, tool versions, git hooks. */
const STEERING_ANY =
  /(?:^|\/)(?:\.env[^/]*|\.tool-versions|\.?mise\.toml|\.(?:husky|githooks)\/.*|lefthook\.ya?ml|\.pre-commit-config\.yaml)$/;

/**
 * Lists the changed files that a check runs or that steer it: its executable or script, the scripts in `package.json`
 * and the files they run, configuration of the test runner and what it loads before the tests, installed packages. If
 * any exist, the change controls the check's outcome, and passing it proves nothing. `texts`: the scripts that it runs.
 *
 * @example
 * listRewritten({ command: ['sh', 'check.sh'] }, change) // ['check.sh'] if the change touches it
 */
export function listRewritten(
  { command, prepare = [] }: Pick<Check, 'command' | 'prepare'>,
  { files, scripts, packageScripts = {} }: Pick<OrderChange, 'files' | 'scripts' | 'packageScripts'>,
  texts: ScriptTexts = {},
): readonly string[] {
  const executables = new Set(
    [command, prepare].flatMap((each) => listExecutables(each, { packageScripts, texts, seen: new Set() })),
  );
  const names = [...executables].map(getBaseName);
  const runsPackages = names.some((name) => PACKAGE_MANAGERS.test(name) || /^(?:npx|node)$/.test(name));
  // A script, or a program that is not known, can run any of the others.
  const isOpaque = names.some(
    (name) =>
      !PLAIN_COMMANDS.test(name) &&
      !SHELL_KEYWORDS.test(name) &&
      !INTERPRETERS.test(name) &&
      !STEERING.some(([runner]) => runner.test(name)),
  );
  const steering = STEERING.filter(([runner]) => isOpaque || names.some((name) => runner.test(name)));
  return [...new Set(listPaths(files))].filter(
    (path) =>
      executables.has(path) ||
      path.split('/').includes('node_modules') ||
      (runsPackages && scripts.includes(path)) ||
      STEERING_ANY.test(path) ||
      steering.some(([, configuration]) => configuration.test(path)),
  );
}

/** The text of shell scripts and makefiles in a commit, by path; empty if there is no such file. */
export type ScriptTexts = Readonly<Record<string, string>>;

/** More than a check of any project runs. */
const MAX_SCRIPTS = 20;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];

/**
 * Lists the shell scripts and makefiles that a check runs and whose text is not yet known: what they run steers the
 * check as well.
 *
 * @example
 * listScripts({ command: ['make', 'test'] }, {}, {}) // ['GNUmakefile', 'makefile', 'Makefile']
 */
export function listScripts(
  { command, prepare = [] }: Pick<Check, 'command' | 'prepare'>,
  packageScripts: Readonly<Record<string, string>>,
  texts: ScriptTexts,
): readonly string[] {
  const executables = [command, prepare].flatMap((each) =>
    listExecutables(each, { packageScripts, texts, seen: new Set() }),
  );
  const scripts = executables.filter((path) =>
    /^(?!\/).*(?:\/[^/.]+|\.(?:ba)?sh)$|^[Mm]akefile$|^GNUmakefile$/.test(path),
  );
  return [...new Set(scripts)].filter((path) => !Object.hasOwn(texts, path)).slice(0, MAX_SCRIPTS);
}

/** The scripts that a command can call. Each script is followed once: they can call each other, any number of times. */
interface Calls {
  readonly packageScripts: Readonly<Record<string, string>>;
  readonly texts: ScriptTexts;
  readonly seen: Set<string>;
}

/**
 * Lists everything a command executes: its executable, an interpreter's script, both within a shell command line, and
 * the same for the scripts of `package.json`, the shell scripts and the makefiles that it calls.
 */
function listExecutables(command: readonly string[], known: Calls): readonly string[] {
  const executables: string[] = [];
  const { packageScripts, texts, seen } = known;
  const follow = (name: string, lines: readonly string[]): void => {
    if (seen.has(name)) return;
    seen.add(name);
    executables.push(...lines.flatMap((line) => listShellLine(line, known)));
  };
  for (const [index, word] of command.entries()) {
    // Flags, numbers and assignments can come between an interpreter and its script; assignments also before an
    // executable.
    if (/^\w+=\S*$/.test(word) || (index > 0 && (word.startsWith('-') || AMOUNT.test(word)))) continue;
    if (index > 0 && /\s|[;&|]/.test(word)) {
      executables.push(...listShellLine(word, known));
      break;
    }
    const path = word.replace(/^(?:\.\/)+/, '');
    executables.push(path);
    if (PACKAGE_MANAGERS.test(getBaseName(path))) {
      const called = command.slice(index + 1).find((next) => !next.startsWith('-') && !RUN_WORDS.test(next)) ?? '';
      const name = called === 't' || called === 'tst' ? 'test' : called;
      for (const script of [`pre${name}`, name, `post${name}`]) {
        const line = Object.hasOwn(packageScripts, script) ? packageScripts[script] : undefined;
        if (line !== undefined) follow(`npm run ${script}`, [line]);
      }
    }
    const isMake = /^g?make$/.test(getBaseName(path));
    if (isMake) executables.push(...MAKEFILES);
    for (const script of isMake ? MAKEFILES : [path]) {
      if (Object.hasOwn(texts, script)) follow(script, listLines(texts[script] ?? '', isMake));
    }
    if (!INTERPRETERS.test(getBaseName(path)) && !SHELL_KEYWORDS.test(path)) break;
  }
  return executables;
}

/** Lists the commands of a script, or the recipes of a makefile, which start with a tab. */
function listLines(text: string, isMake: boolean): readonly string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  const commands = isMake ? lines.flatMap((line) => /^\t[@+-]*(.*)/.exec(line)?.[1] ?? []) : lines;
  return commands.filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
}

function listShellLine(line: string, known: Calls): readonly string[] {
  return line
    .split(/[;&|()\n`]+/)
    .flatMap((part) => listExecutables(part.trim().split(/\s+/).map(unquote), known))
    .filter(Boolean);
}

function unquote(word: string): string {
  return word.replaceAll(/["'$]/g, '');
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
