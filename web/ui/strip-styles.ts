/** Colours and other styles (SGR), and erasing a line: they change how a text looks, not what it says. */
// oxlint-disable-next-line no-control-regex
const STYLES = /\u001b\[[0-9;:]{0,64}[mK]/g;

/**
 * Removes terminal styles from the output of a tool. Every other escape stays and is shown as text: moving the cursor or
 * hiding text could make the output say something else.
 *
 * @example
 * stripStyles('\u001b[32m✓\u001b[0m done') // '✓ done'
 */
export function stripStyles(text: string): string {
  return text.includes('\u001b') ? text.replaceAll(STYLES, '') : text;
}
