/** `/bin/bash -lc`, the shell that Codex uses to run every command of its model. */
const SHELL = /^(?:\/usr)?(?:\/local)?(?:\/bin\/)?(?:ba|z|da)?sh -l?c /u;

/** Characters that a backslash escapes between double quotes. */
const ESCAPED: ReadonlySet<string> = new Set(['"', '\\', '$', '`']);

/**
 * Returns the script that a command line passes to a shell; any other line is returned unchanged. Permission rules match the
 * command that the model wants to run, not the shell around it.
 *
 * @example
 * readShellScript(`/bin/bash -lc "npm test"`) // 'npm test'
 */
export function readShellScript(line: string): string {
  const shell = SHELL.exec(line)?.[0];
  return shell === undefined ? line : (unquoteWord(line.slice(shell.length)) ?? line);
}

/** Returns a word without its quotes; null if there is more than one word, or a quote is left unclosed. */
function unquoteWord(source: string): string | null {
  let word = '';
  let quote = '';
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charAt(at);
    const next = source.charAt(at + 1);
    if (quote === '' && (char === "'" || char === '"')) quote = char;
    else if (char === quote) quote = '';
    else if (char === '\\' && quote !== "'") {
      if (next === '') return null;
      if (quote === '' || ESCAPED.has(next)) at += 1;
      word += quote === '' || ESCAPED.has(next) ? next : char;
    } else if (quote === '' && !/[\w@%+=:,./-]/u.test(char)) return null;
    else word += char;
  }
  return quote === '' && source !== '' ? word : null;
}
