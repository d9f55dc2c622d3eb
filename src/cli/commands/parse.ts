import { ParseError, parse, repairJson } from '../../json/index.js';
import type { ParseResult, StandardSchema } from '../../json/index.js';
import type { CommandIo } from '../command-io.js';
import { describeFileError, MAX_INPUT_BYTES, readInput, readSchemaFile } from '../read-input.js';
import { defineCommand } from '../command.js';
import { CONTRACT_OPTIONS } from '../run-flags.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { toParseOutput, type ParseOutput } from '../../server/api/index.js';
import { printJson, escapeControls } from '../print.js';
import { formatLine } from '../terminal-text.js';
import { isSluiceError } from '../../base/index.js';

export const addParseCommand = defineCommand('parse', {
  summary: 'extract JSON from an answer, repair its syntax and validate it',
  args: { '[file]': 'the answer (default: standard input)' },
  options: {
    '--schema <file>': 'JSON Schema (draft 2020-12) for the value',
    ...CONTRACT_OPTIONS,
    '--ambiguous <what>': [
      'what to do if different values are valid and nothing decides between them (default: fail)',
      ['first', 'last', 'fail'],
    ],
    '--numbers <how>': [
      'how to return numbers that a double cannot represent (default: double)',
      ['double', 'bigint', 'raw'],
    ],
    '--value': 'print only the value; errors go to standard error',
    '--label <text>': 'name of the answer, for messages',
  },
  async run({ file, schema: schemaFile, value: isValueOnly, ...options }, io) {
    if (options.align === true && schemaFile === undefined)
      throw new MisuseError('--align needs --schema. Add a schema, or omit --align.');
    const schema = schemaFile === undefined ? undefined : await readSchema(schemaFile, io);
    const input = await readInput(file, MAX_INPUT_BYTES, io);
    const result = 'tooLong' in input ? refuseTooLong(options.label) : parse(input.text, schema, options);
    const output = toParseOutput(result);
    if (isValueOnly === true) return printValue(output, io);
    await printJson(output, io);
    return result.status === 'failed' ? EXIT.failed : EXIT.success;
  },
});

/** Prints only the value. Without a value, the reason and a hint go to standard error. */
async function printValue({ status, value, error, warnings }: ParseOutput, io: CommandIo): Promise<ExitCode> {
  if (status === 'success') {
    await printJson(value, io);
    return EXIT.success;
  }
  const { code, message, hint } = error ?? { code: 'NO_JSON', message: warnings[0]?.message, hint: undefined };
  await io.stderr.write(formatLine([`${code}: ${message}`, hint].filter(Boolean).join(' ')));
  return EXIT.failed;
}

async function readSchema(file: string, io: CommandIo): Promise<StandardSchema> {
  const schema = await readSchemaFile(file, io);
  // Imported here, because loading the validator takes longer than parsing most answers.
  const { fromJsonSchema } = await import('../../json/schema/index.js');
  try {
    return fromJsonSchema(schema);
  } catch (error) {
    throw new MisuseError(`"${file}" is not a valid JSON Schema: ${describeFileError(error)}. Correct it.`, {
      cause: error,
    });
  }
}

function refuseTooLong(label: string | undefined): ParseResult<never> {
  const message = `${label === undefined ? '' : `${label}: `}The input is longer than ${MAX_INPUT_BYTES} bytes. Shorten it.`;
  const error = new ParseError('LIMIT_EXCEEDED', message, { attempts: [] });
  return { ok: false, status: 'failed', error, repairLevel: 'none', warnings: [], attempts: [] };
}

export const addRepairCommand = defineCommand('repair', {
  summary: 'repair broken JSON and print it',
  args: { '[file]': 'the broken JSON (default: standard input)' },
  async run({ file }, io) {
    const input = await readInput(file, MAX_INPUT_BYTES, io);
    if ('tooLong' in input) return printError(`The input is longer than ${MAX_INPUT_BYTES} bytes. Shorten it.`, io);
    let repaired: string;
    try {
      repaired = repairJson(input.text);
    } catch (error) {
      if (isSluiceError(error)) return printError(`${error.code}: ${error.message}`, io);
      throw error;
    }
    // Unchanged when piped; a terminal might interpret control characters that JSON allows inside strings.
    const text = repaired.trimEnd();
    await io.stdout.write(`${io.stdout.isTerminal ? escapeControls(text) : text}\n`);
    return EXIT.success;
  },
});

async function printError(reason: string, io: CommandIo): Promise<ExitCode> {
  await io.stderr.write(formatLine(reason));
  return EXIT.failed;
}
