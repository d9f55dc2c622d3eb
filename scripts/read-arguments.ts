import { parseArgs, type ParseArgsConfig } from 'node:util';
import { getErrorMessage } from '../src/base/sluice-error.js';

/**
 * Parses the arguments of a script. If they are invalid, prints the problem and the usage in one line, and exits with code 2.
 *
 * @example
 * const { values } = readArguments({ options: { json: { type: 'boolean' } } }, 'npm run conformance -- DIR [--json]')
 */
export function readArguments<Config extends ParseArgsConfig>(
  config: Config,
  usage: string,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return exitWithUsageError(`${describeWrongArgument(error)}; usage: ${usage}`);
  }
}

/** Returns the first sentence of a `parseArgs` error; the rest is general advice. */
export function describeWrongArgument(error: unknown): string {
  return getErrorMessage(error).split('. ')[0] ?? '';
}

/** Exits a script that was called incorrectly. */
export function exitWithUsageError(message: string): never {
  console.error(message);
  process.exit(2);
}
