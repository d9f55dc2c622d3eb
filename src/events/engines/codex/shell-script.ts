/** `/bin/bash -lc`, as Codex starts every command of its model. */
const SHELL = /^(?:\/usr)?(?:\/local)?(?:\/bin\/)?(?:ba|z|da)?sh -l?c /u;

/** Characters that a backslash escapes between double quotes. */
const ESCAPED: ReadonlySet<string> = new Set(['"', '\\', '$', '`']);

/**
 * The script that a command line gives to a shell; the line itself where it is anything else. Rules are written for what
 * the model wants to run, not for the shell around it.
 *
 * @example
 * readShellScript(`/bin/bash -lc "npm test"`) // 'npm test'
 */
export function readShellScript(line: string): string {
  const shell = SHELL.exec(line)?.[0];
  return shell === undefined ? line : (readOneWord(line.slice(shell.length)) ?? line);
}

/** The text of a word with its quotes removed; null if there is more than one word, or a quote is left open. */
function readOneWord(source: string): string | null {
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
