import { errorMessageOf } from '../base/index.js';
import type { CommandIo } from './command-io.js';
import { MAX_INPUT_BYTES } from './input-limit.js';
import { MisuseError } from './misuse-error.js';
import { nameInput, readInput } from './read-input.js';

/** Reads a file, or standard input for `-`, as JSON. */
export async function readJsonFile(file: string, io: CommandIo): Promise<unknown> {
  const input = await readInput(file, MAX_INPUT_BYTES, io);
  const name = nameInput(file);
  if ('tooLong' in input) throw new MisuseError(`${name} is longer than ${MAX_INPUT_BYTES} bytes; cut it first`);
  try {
    return JSON.parse(input.text) as unknown;
  } catch (error) {
    throw new MisuseError(`${name} is not JSON: ${errorMessageOf(error)}`, { cause: error });
  }
}
