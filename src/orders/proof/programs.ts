import { isRunner } from './steering-files.js';

/** Commands that run the command passed to them. */
export const WRAPPERS =
  /^(?:env|cross-env|exec|command|time|coproc|npx|sudo|doas|xargs|timeout|nice|nohup|setsid|stdbuf|trap|if|elif|then|else|do|while|until|!|\{)$/;
export const SHELL = /^(?:ba|da|k|z)?sh$/;
/** Programs that run the script passed to them, or else their input. */
export const INTERPRETERS =
  /^(?:(?:ba|da|k|z)?sh|node|nodejs|bun|deno|tsx|ts-node|python\d?(?:\.\d+)?|ruby|perl|php|pwsh|lua|eval|source|\.)$/;
/** Numbers and durations after a wrapper: `timeout 30s`, `nice -n 10`. */
export const AMOUNT = /^\d+(?:\.\d+)?[smhd]?$/;
/** Programs that run the scripts in `package.json`. */
export const PACKAGE_MANAGERS = /^(?:npm|yarn|pnpm|bun|npm-run-all2?|run-[sp])$/;
/** Programs that run none of the files they name, or only those of the product. */
export const READERS =
  /^(?:eslint|tsc|cargo|rustc|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|javac|ruff|mypy|prettier|shellcheck|rm|mkdir|touch|chmod)$/;
/** The same for those whose input is data as well. */
export const PLAIN_COMMANDS =
  /^(?:test|\[|\[\[|true|false|:|grep|egrep|cat|head|tail|wc|ls|diff|cmp|cd|pushd|popd|sleep|echo|printf|set|export|exit|find|sort|uniq|tr|cut|sed|awk|jq|for|case|read|local|return|shift|fi|done|fail|esac|\})$/;
/** Programs that run every file in the folders they name. */
export const FOLDER_RUNNERS = /^(?:mocha|tap|prove|bats|run-parts|node)$/;

/** The files that a check can run, as far as they are known. */
export interface KnownFiles {
  /** The scripts of the `package.json` files in the commit, by name; with one command line each. */
  readonly packageScripts?: Readonly<Record<string, string>>;
  /** Changed `package.json` files whose scripts or settings differ. */
  readonly changedPackages?: readonly string[];
  /** The text of shell scripts and makefiles in the commit, by path. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The files that the configuration of runners loads: paths, whose endings may be missing. */
  readonly loaded?: readonly string[];
}

/** Whether nothing is known about what a program runs. */
export function isOpaque(program: string): boolean {
  const known = [PLAIN_COMMANDS, WRAPPERS, INTERPRETERS, PACKAGE_MANAGERS, READERS];
  return !known.some((names) => names.test(program)) && !isRunner(program);
}
