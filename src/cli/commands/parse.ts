import { Option, type Command } from 'commander';
import { ParseError, parse } from '../../json/index.js';
import type { ParseOptions, ParseResult, StandardSchema } from '../../json/index.js';
import type { CommandIo } from '../command-io.js';
import { describeFileError } from '../describe-file-error.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { MAX_INPUT_BYTES } from '../input-limit.js';
import { MisuseError } from '../misuse-error.js';
import { toParseOutput } from '../../api/index.js';
import { readInput } from '../read-input.js';
import { readSchemaFile } from '../read-schema.js';
import { printJson } from '../print-json.js';

/** The options of `sluice parse`, as commander hands them over. */
type ParseFlags = Pick<ParseOptions, 'profile' | 'allowPartial' | 'align' | 'prefer' | 'label' | 'numbers'> & {
  readonly schema?: string;
};

/** Adds `sluice parse` to the program. */
export function addParseCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('parse')
    .description('find the JSON in an answer, repair its syntax, check it against a schema')
    .argument('[file]', 'the answer; standard input if none is named')
    .option('--schema <file>', 'a JSON Schema (draft 2020-12) the value must pass')
    .addOption(
      new Option('--profile <name>', 'whose rules to follow').choices(['default', 'generic', 'tagged', 'unified']),
    )
    .option('--allow-partial', 'take a value that was cut off, as far as it came')
    .option('--align', 'bring near misses into the shape of the schema')
    .addOption(new Option('--prefer <which>', 'which candidate to take if several pass').choices(['first', 'last']))
    .addOption(new Option('--numbers <how>', 'what a double cannot hold').choices(['double', 'bigint', 'raw']))
    .option('--label <text>', 'whose answer this is, for messages')
    .action(async (file: string | undefined, flags: ParseFlags) => {
      end(await runParse(file, flags, io));
    });
}

async function runParse(file: string | undefined, flags: ParseFlags, io: CommandIo): Promise<ExitCode> {
  const { schema: schemaFile, ...options } = flags;
  if (options.align === true && schemaFile === undefined) throw new MisuseError('--align needs a --schema to align to');
  const schema = schemaFile === undefined ? undefined : await readSchema(schemaFile, io);
  const input = await readInput(file, MAX_INPUT_BYTES, io);
  const result = 'tooLong' in input ? refuseTooLong(options.label) : parse(input.text, schema, options);
  await printJson(toParseOutput(result), io);
  return result.status === 'failed' ? EXIT.failed : EXIT.success;
}

async function readSchema(file: string, io: CommandIo): Promise<StandardSchema> {
  const schema = await readSchemaFile(file, io);
  // Loaded only here: its validator takes longer to load than most answers take to parse. It checks the schema itself.
  const { fromJsonSchema } = await import('../../json-schema/index.js');
  try {
    return fromJsonSchema(schema);
  } catch (error) {
    throw new MisuseError(`${file} is not a usable JSON Schema: ${describeFileError(error)}`, { cause: error });
  }
}

function refuseTooLong(label: string | undefined): ParseResult<never> {
  const message = `${label === undefined ? '' : `${label}: `}the text is longer than ${MAX_INPUT_BYTES} bytes; cut it first`;
  const error = new ParseError('LIMIT_EXCEEDED', message, { attempts: [] });
  return { ok: false, status: 'failed', error, repairLevel: 'none', warnings: [], attempts: [] };
}
