import { styleText } from 'node:util';
import { INVISIBLE_CHARACTERS, formatInvisible } from '../base/index.js';

/**
 * Makes untrusted text safe for a terminal: characters that move the cursor, change colours, are invisible or reverse the
 * text direction are shown as symbols or code points. Line feeds and tabs are kept; carriage returns are removed.
 *
 * @example
 * makeVisible('\u001b[2Jgone') // '␛[2Jgone'
 */
export function makeVisible(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, showCharacter);
}

function showCharacter(character: string): string {
  // Part of some line endings; on its own it would move the cursor.
  if (character === '\r') return '';
  const symbol = formatInvisible(character);
  return symbol.length === 1 ? symbol : `<${symbol}>`;
}

/** Formats a message as a line that starts with the name of the program. Untrusted text in the message is escaped. */
export function formatLine(message: string): string {
  return `sluice: ${makeVisible(message)}\n`;
}

/**
 * Whether to color an output: `--color` and `--no-color` decide, then `NO_COLOR`, then whether it is a terminal. Arguments
 * after `--` belong to another command.
 */
export function wantsColor(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const flag = own.findLast((word) => word === '--color' || word === '--no-color');
  if (flag !== undefined) return flag === '--color';
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

type Style = Parameters<typeof styleText>[0];

/** The style of a line by its beginning: events of a run, results of a check, headings of help and of tables. */
const LINE_STYLES: readonly (readonly [RegExp, Style])[] = [
  [/^ *✓ |^■ completed/u, 'green'],
  [/^ *✗ |^■ failed/u, 'red'],
  [/^[!?] /u, 'yellow'],
  [/^ *→ /u, 'cyan'],
  [/^… /u, 'dim'],
  [/^● |^(?:Usage|Arguments|Options|Commands|Examples|Exit codes):|^[A-Z]+(?: [A-Z]+)*(?: {2,}[A-Z ]+)+$/u, 'bold'],
];

const PATCH_STYLES: typeof LINE_STYLES = [
  [/^(?:==|\+\+\+|---) /u, 'bold'],
  [/^@@ /u, 'cyan'],
  [/^\+/u, 'green'],
  [/^-/u, 'red'],
];

/** Creates a function that colors text line by line, in any number of parts. */
export function createColoring(): (text: string) => string {
  let isLineStart = true;
  return (text) => {
    const [first = '', ...rest] = text.split('\n');
    const colored = [isLineStart ? colorLine(first) : first, ...rest.map((line) => colorLine(line))].join('\n');
    if (text !== '') isLineStart = text.endsWith('\n');
    return colored;
  };
}

export function colorPatch(text: string): string {
  return text.replaceAll(/^.+$/gmu, (line) => colorLine(line, PATCH_STYLES));
}

function colorLine(line: string, styles = LINE_STYLES): string {
  const style = styles.find(([beginning]) => beginning.test(line))?.[1];
  return style === undefined ? line : styleText(style, line, { validateStream: false });
}
