import { getErrorMessage, getErrorCode, isSluiceError } from '../base/index.js';
import type { JsonSchema } from '../json/schema/index.js';
import { resolveLimits } from '../json/index.js';
import type { CommandIo } from './command-io.js';
import { MisuseError } from './failure.js';
import { createArchive, type Config } from '../server/config/index.js';
import { RunFolderError, openRun, type RunFolder } from '../runs/run-folder/index.js';

/** The content of an input, unless it is too long. */
type InputText = { readonly text: string } | { readonly tooLong: true };

/**
 * Reads a file, or standard input by default, up to a number of bytes. A byte order mark is stripped; invalid UTF-8
 * becomes U+FFFD, because the rest of the input might still contain the answer.
 */
export async function readInput(file: string | undefined, maxBytes: number, io: CommandIo): Promise<InputText> {
  const bytes = await collect(await openInput(file, io), file, maxBytes);
  return bytes === undefined ? { tooLong: true } : { text: new TextDecoder().decode(bytes) };
}

export function nameInput(file: string | undefined): string {
  return isStdin(file) ? 'standard input' : file;
}

function isStdin(file: string | undefined): file is undefined | '-' {
  return file === undefined || file === '-';
}

async function openInput(file: string | undefined, io: CommandIo): Promise<AsyncIterable<Uint8Array>> {
  if (!isStdin(file)) return io.openFile(file);
  const stdin = io.openStdin();
  if (stdin.isTerminal) await io.stderr.write('Reading from standard input. Press Ctrl-D to finish.\n');
  return stdin;
}

async function collect(
  source: AsyncIterable<Uint8Array>,
  file: string | undefined,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) return undefined;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new MisuseError(`Cannot read "${nameInput(file)}": ${describeFileError(error)}. Check the path.`, {
      cause: error,
    });
  }
  return Buffer.concat(chunks, length);
}

export async function readJsonFile(file: string, io: CommandIo): Promise<unknown> {
  const input = await readInput(file, MAX_INPUT_BYTES, io);
  const name = nameInput(file);
  if ('tooLong' in input) throw new MisuseError(`"${name}" is longer than ${MAX_INPUT_BYTES} bytes. Shorten it.`);
  try {
    return JSON.parse(input.text) as unknown;
  } catch (error) {
    throw new MisuseError(`"${name}" is not valid JSON: ${getErrorMessage(error)}. Correct it.`, { cause: error });
  }
}

/** Reads a schema file. The caller checks that the schema is valid. */
export async function readSchemaFile(file: string, io: CommandIo): Promise<JsonSchema> {
  if (file === '-') throw new MisuseError('--schema cannot be read from standard input. Pass a file.');
  const schema = await readJsonFile(file, io);
  if (typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null)) return schema;
  throw new MisuseError(`"${file}" is not a JSON Schema: it must be an object or a boolean. Correct it.`);
}

/** The maximum number of bytes a command reads from one input: the default of `limits.bytes`. */
export const MAX_INPUT_BYTES = resolveLimits(undefined).bytes;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'part of the path is not a folder',
};

export function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return REASONS[getErrorCode(error) ?? ''] ?? error.message;
}

/** Opens a run by its id: in the data folder, packed or not, or in the configured archive. */
export async function openRunById(config: Pick<Config, 'data' | 'archive'>, run: string): Promise<RunFolder> {
  try {
    return await openRun(config.data, run);
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'INVALID_RUN_ID') throw error;
    const archive = await createArchive(config, process.env);
    const archivedRun = await archive?.openRun(run);
    if (archivedRun !== undefined) return archivedRun;
    if (error.code !== 'RUN_FOLDER_NOT_FOUND') throw error;
    const message = `Run "${run}" not found in "${config.data}", and there is no folder with this name. Check the id and --data.`;
    throw new RunFolderError('RUN_FOLDER_NOT_FOUND', message, { cause: error });
  }
}
