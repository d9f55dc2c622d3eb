import type { Command } from 'commander';
import { isSluiceError } from '../../base/index.js';
import { repairJson } from '../../json/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { MAX_INPUT_BYTES, readInput } from '../read-input.js';
import { escapeControls } from '../render-json.js';
import { formatLine } from '../terminal-text.js';

export function addRepairCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('repair')
    .description('repair broken JSON and print it')
    .argument('[file]', 'the broken JSON (default: standard input)')
    .action(async (file: string | undefined) => {
      end(await runRepair(file, io));
    });
}

async function runRepair(file: string | undefined, io: CommandIo): Promise<ExitCode> {
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
  await io.stdout.write(`${io.stdout.isTerminal ? escapeControls(repaired.trimEnd()) : repaired.trimEnd()}\n`);
  return EXIT.success;
}

async function printError(reason: string, io: CommandIo): Promise<ExitCode> {
  await io.stderr.write(formatLine(reason));
  return EXIT.failed;
}
