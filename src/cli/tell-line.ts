import { visibleText } from './visible-text.js';

/** A line of talk, signed. What is told may quote a file or an agent, and that must not speak to the terminal. */
export function tellLine(message: string): string {
  return `sluice: ${visibleText(message)}\n`;
}
