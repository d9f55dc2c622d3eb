import { posix } from 'node:path';

/** Flags whose next word is a file or a module, and not the script. */
export const VALUE_FLAG =
  /^(?:-[rmf]|--(?:require|import|(?:experimental-)?loader|env-file|test-reporter|tsconfig|project|preload|rcfile|init-file|(?:make)?file|experimental-config-file))$/;
/** Flags whose next word is code. */
export const CODE_FLAG = /^(?:-\w*[cepE]|--(?:eval|print))$/;
/** Flags of interpreters that need no script. */
export const NO_SCRIPT = /^(?:--(?:test|version|help|run)\b.*|-[vVh]+)$/;
/** Options that make a command work in another folder. */
export const FOLDER_FLAG = /^(?:-C|--(?:prefix|cwd|dir|directory|chdir))$/;
export const IN_OTHER_FOLDERS =
  /^(?:cd|pushd|-C.*|-w|-r|workspaces?|--(?:prefix|cwd|dir|directory|chdir|workspaces?|filter|recursive)(?:=.*)?)$/;
/** Variables that name what programs load. */
export const LOADING_VARIABLE =
  /^(?:PATH|ENV|BASH_ENV|\w*SHELL|NODE_OPTIONS|PYTHON(?:STARTUP|HOME)|RUBYOPT|PERL5OPT|LD_PRELOAD|MAKEF\w+|npm_config_\w+|\w*CONFIG(?:_FILE)?)$/i;

/** A word with its quotes and the commands whose output it contains, or an operator. Takes linear time. */
const TOKENS =
  /(?:'[^']*'|"(?:[^"\\]|\\[^])*"|[$<>]\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\[^]|[^\s;&|()<>'"\\])+|\d*(?:<<?<?-?|>>?)|[;&|()\n]+|['"\\]/g;

/**
 * Splits a shell script into its commands, wherever they are: in a pipeline, a loop or a subshell. The bodies of here
 * documents count as commands. `isPiped`: another command prints its input.
 */
export function splitCommands(
  text: string,
): readonly { readonly words: readonly string[]; readonly isPiped: boolean }[] {
  const source = text
    .replaceAll('\\\n', ' ')
    .replaceAll(/(^|\s)#.*/g, '$1')
    .replaceAll(/\d*>&\d*-?|&>>?/g, (operator) => (operator.startsWith('&') ? ' > ' : ' '))
    .replaceAll(/`([^`]*)`/g, '$($1)');
  const commands: { words: string[]; isPiped: boolean }[] = [{ words: [], isPiped: false }];
  let separators = '';
  for (const [token] of source.matchAll(TOKENS)) {
    const last = commands.at(-1);
    if (/^[;&|()\n]/.test(token)) {
      separators += token;
    } else if (last !== undefined) {
      const word = unquote(token);
      if (separators === '') last.words.push(word);
      else commands.push({ words: [word], isPiped: /(?<!\|)\|(?!\|)/.test(separators) });
      separators = '';
    }
  }
  return commands.filter(({ words }) => words.length > 0);
}

/** A command whose output a word contains. */
const SUBSTITUTION = /[$<>]\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/g;

/** Lists the commands whose output is part of a word: `dirname "$0"` of `$(dirname "$0")/lib.sh`. */
export function listSubstitutions(word: string): readonly string[] {
  return [...word.matchAll(SUBSTITUTION)].map(([, command = '']) => command);
}

function unquote(token: string): string {
  return token.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g,
    (_, single?: string, double?: string, other?: string) =>
      single ?? double?.replaceAll(/\\([$`"\\])/g, '$1') ?? other ?? '',
  );
}

/** Returns the commands of a makefile as a shell script: its recipes, the files it includes, its variables. */
export function readMakefile(text: string): string {
  const prefix = /^\.RECIPEPREFIX\s*[:?]*=\s*(\S)/m.exec(text)?.[1] ?? '\t';
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => (line.startsWith(prefix) ? `\t${line.slice(1).trim()}` : line))
    .flatMap((line) => {
      const [, recipe] = /^\t[@+-]*(.*)|^[^#=]*?:[^=;]*;(.*)/.exec(line)?.filter((part) => part !== undefined) ?? [];
      if (recipe !== undefined) return recipe;
      const [, included] = /^(?:-|s)?include\s+(.*)/.exec(line) ?? [];
      if (included !== undefined) return included.split(/\s+/).map((file) => `. ${file}`);
      const [, variable, value = ''] = /^(?:export\s+)?(\w+)\s*[:?!+]*=\s*(.*)/.exec(line) ?? [];
      // Prerequisites are words that a recipe can use: `sh $<`.
      return variable === undefined
        ? `: ${line.replaceAll(/[:;&|()#]+/g, ' ')}`
        : `${variable}="${value.replaceAll('"', '')}"`;
    })
    .map((line) =>
      line
        .replaceAll('$$', '\0')
        .replaceAll(/\$[({](\w+)[)}]/g, (_, name: string) => (name === 'MAKE' ? 'make' : `\${${name}}`))
        .replaceAll(/\$\(shell\s/g, '$(')
        .replaceAll('\0', '$'),
    )
    .join('\n');
}

/**
 * Lists everything in a text that could be the name of a file or a module: `require`, `./t.js` and `t/js` of
 * `require('./t.js')`.
 */
export function listTokens(text: string): readonly string[] {
  return [...text.matchAll(/[\w.@+*?%$~/-]+/g)].flatMap(([token]) =>
    /^\w+(?:\.\w+)+$/.test(token) ? [token, token.replaceAll('.', '/')] : [token],
  );
}

/** Longer words name no file; the work for each is limited. */
export const MAX_WORD_LENGTH = 1000;

/**
 * Returns the path that a command names, relative to the top of the repository. Parts that are not known, such as
 * variables and the folders of an absolute path, become `**`, wildcards `*`.
 */
export function toPattern(word: string): string {
  if (word.length > MAX_WORD_LENGTH) return '**';
  const text = word
    .replaceAll(/\$\([^]*\)|\$(?:\{[^}]*\}|\w+|\W)|\$$/g, '**')
    .replaceAll(/[?%]|\[[^\]]*\]|\{[^}]*\}/g, '*')
    .replace(/^\/(?:.*\/)?(?=.)/, '**/');
  return text === '' ? '' : posix.normalize(text).replaceAll(/^(?:\.\.\/)+|\/$/g, '');
}

/**
 * Whether a path is what a command calls `name`, which may be a pattern or lack the ending of code: `ci/t` is
 * `ci/t.js`.
 */
export function isNamed(path: string, name: string, isElsewhere = false): boolean {
  if (name.includes('*')) return matches(path, name);
  const below = isElsewhere && !path.startsWith(name) ? path.lastIndexOf(`/${name}`) + 1 : 0;
  if (!path.startsWith(name, below)) return false;
  return /^(?:\.(?:[cm]?[jt]sx?|json|py|rb|sh))?$/.test(path.slice(below + name.length));
}

/** Whether a path matches a pattern in which `*` is any part of a name, and `**` anything. Takes linear time. */
function matches(path: string, pattern: string): boolean {
  const subject = pattern.startsWith('**/') ? `/${path}` : path;
  const pieces = pattern.split(/\*+/);
  const end = pieces.at(-1) ?? '';
  let at = 0;
  for (const [index, piece] of pieces.slice(0, -1).entries()) {
    const found = subject.indexOf(piece, at);
    if (found === -1 || (index === 0 && found !== 0)) return false;
    at = found + piece.length;
  }
  const isShallow = !pattern.includes('**');
  if (isShallow && path.split('/').length !== pattern.split('/').length) return false;
  return subject.length >= at + end.length && subject.endsWith(end);
}

/** Whether a word consists of nothing but variables, wildcards and the output of commands. */
export function isUnknown(word: string): boolean {
  return /^(?:\*\*)?\/?$/.test(toPattern(word)) || /^[<>]\(|^\/(?:dev\/(?:stdin|fd)|proc\/)/.test(word);
}

const LOADS = /(?<![.\w])(?:require|import|load|source|do|use)\b|exec|eval|spawn|fork|system|popen|subprocess/;
const STANDARD_MODULES = /(?:require\(|import |from )['"]?(?:node:)?(?:fs|path|assert|os|util|json|sys|re)\b/g;

/** Whether code loads modules or runs what it reads, other than modules for reading data. */
export function loadsCode(code: string): boolean {
  return LOADS.test(code.replaceAll(STANDARD_MODULES, ''));
}
