import type { CommandIo } from './command-io.js';
import { renderJson } from './render-json.js';

/** Prints a value as JSON: indented for a person at a terminal, on one line for a program. */
export async function printJson(value: unknown, { stdout }: CommandIo): Promise<void> {
  await stdout.write(`${renderJson(value, stdout.isTerminal ? 2 : 0)}\n`);
}

/** Whether JSON is due where a person would get something to read: when it is asked for, and when a program reads. */
export function isJsonDue({ json = false }: { readonly json?: boolean | undefined }, { stdout }: CommandIo): boolean {
  return json || !stdout.isTerminal;
}
