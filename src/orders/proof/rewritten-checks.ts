import type { Check } from './checks.js';
import type { OrderChange } from './judge-commit.js';
import { listPaths } from './changes.js';

/** Commands that run the script or executable passed to them. */
const INTERPRETERS =
  /^(?:(?:ba|da|k|z)?sh|node|nodejs|bun|deno|tsx|ts-node|python\d?(?:\.\d+)?|ruby|perl|php|pwsh|lua|env|cross-env|exec|eval|command|time|source|\.|npx|sudo|doas|xargs|timeout|nice|nohup|setsid|stdbuf)$/;
const SHELL_KEYWORDS = /^(?:if|elif|then|else|do|while|until|!|\{)$/;
/** Numbers and durations after an interpreter: `timeout 30s`, `nice -n 10`. */
const AMOUNT = /^\d+(?:\.\d+)?[smhd]?$/;
const PACKAGE_RUNNERS = /^(?:npm|npx|yarn|pnpm|bun|node)$/;
const MAKE = /^(?:g?make|just|task|rake)$/;
const MAKE_FILES = /^(?:gnumakefile|makefile|justfile|\.justfile|taskfile\.ya?ml|rakefile)$/i;

/**
 * Lists the changed files that a check runs: its executable or script, the scripts in `package.json`, a makefile,
 * installed packages. If any exist, the change controls the check's outcome, and passing it proves nothing.
 *
 * @example
 * listRewritten({ command: ['sh', 'check.sh'] }, change) // ['check.sh'] if the change touches it
 */
export function listRewritten(
  { command, prepare = [] }: Pick<Check, 'command' | 'prepare'>,
  { files, scripts }: Pick<OrderChange, 'files' | 'scripts'>,
): readonly string[] {
  const executables = new Set([...listExecutables(command), ...listExecutables(prepare)]);
  const names = [...executables].map(getBaseName);
  const runsPackages = names.some((name) => PACKAGE_RUNNERS.test(name));
  const runsMake = names.some((name) => MAKE.test(name));
  return [...new Set(listPaths(files))].filter(
    (path) =>
      executables.has(path) ||
      path.split('/').includes('node_modules') ||
      (runsPackages && scripts.includes(path)) ||
      (runsMake && MAKE_FILES.test(getBaseName(path))),
  );
}

/**
 * Lists everything a command executes: its executable, an interpreter's script, and both within a shell command line.
 */
function listExecutables(command: readonly string[]): readonly string[] {
  const executables: string[] = [];
  for (const [index, word] of command.entries()) {
    // Flags, numbers and assignments can come between an interpreter and its script; assignments also before an
    // executable.
    if (/^\w+=\S*$/.test(word) || (index > 0 && (word.startsWith('-') || AMOUNT.test(word)))) continue;
    if (index > 0 && /\s|[;&|]/.test(word)) {
      for (const part of word.split(/[;&|()\n`]+/))
        executables.push(...listExecutables(part.trim().split(/\s+/).map(unquote)));
      break;
    }
    const path = word.replace(/^(?:\.\/)+/, '');
    executables.push(path);
    if (!INTERPRETERS.test(getBaseName(path)) && !SHELL_KEYWORDS.test(path)) break;
  }
  return executables;
}

function unquote(word: string): string {
  return word.replaceAll(/["'$]/g, '');
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
