import type { CommandIo } from './command-io.js';
import { describeFileError } from './describe-file-error.js';
import { MisuseError } from './misuse-error.js';

/** The text of an input, or the knowledge that it is longer than allowed. */
export type InputText = { readonly text: string } | { readonly tooLong: true };

/**
 * Reads a file, or standard input where none is named, up to a number of bytes. A byte order mark is taken off; bytes
 * that are no UTF-8 become U+FFFD, since the rest of the text may still hold the answer.
 */
export async function readInput(file: string | undefined, maxBytes: number, io: CommandIo): Promise<InputText> {
  const bytes = await collect(await openInput(file, io), file, maxBytes);
  return bytes === undefined ? { tooLong: true } : { text: new TextDecoder().decode(bytes) };
}

/** What an input is called in a message. */
export function nameInput(file: string | undefined): string {
  return isStdin(file) ? 'standard input' : file;
}

function isStdin(file: string | undefined): file is undefined | '-' {
  return file === undefined || file === '-';
}

async function openInput(file: string | undefined, io: CommandIo): Promise<AsyncIterable<Uint8Array>> {
  if (!isStdin(file)) return io.openFile(file);
  const stdin = io.openStdin();
  if (stdin.isTerminal) await io.stderr.write('Reading standard input; end it with Ctrl-D.\n');
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
    throw new MisuseError(`cannot read ${nameInput(file)}: ${describeFileError(error)}`, { cause: error });
  }
  return concatenate(chunks, length);
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
