import type { JsonSchema } from '../json-schema/index.js';
import type { CommandIo } from './command-io.js';
import { describeFileError } from './describe-file-error.js';
import { MAX_INPUT_BYTES } from './input-limit.js';
import { MisuseError } from './misuse-error.js';
import { readInput } from './read-input.js';

/** Reads a schema file as the JSON it is; whoever uses it checks that it is a schema. */
export async function readSchemaFile(file: string, io: CommandIo): Promise<JsonSchema> {
  if (file === '-') throw new MisuseError('--schema needs a file; standard input is taken');
  const input = await readInput(file, MAX_INPUT_BYTES, io);
  if ('tooLong' in input) throw new MisuseError(`the schema ${file} is longer than ${MAX_INPUT_BYTES} bytes`);
  try {
    return JSON.parse(input.text) as JsonSchema;
  } catch (error) {
    throw new MisuseError(`${file} is not a usable JSON Schema: ${describeFileError(error)}`, { cause: error });
  }
}
