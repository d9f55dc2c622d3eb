import type { JsonSchema } from '../json-schema/index.js';
import type { CommandIo } from './command-io.js';
import { MisuseError } from './misuse-error.js';
import { readJsonFile } from './read-json-file.js';

/** Reads a schema file; whoever uses it checks that what it says is a schema. */
export async function readSchemaFile(file: string, io: CommandIo): Promise<JsonSchema> {
  if (file === '-') throw new MisuseError('--schema needs a file; standard input is taken');
  const schema = await readJsonFile(file, io);
  if (typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null)) return schema;
  throw new MisuseError(`${file} is not a usable JSON Schema: a schema is an object`);
}
