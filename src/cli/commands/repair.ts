import type { Command } from 'commander';
import { isSluiceError } from '../../base/index.js';
import { repairJson } from '../../json/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { MAX_INPUT_BYTES } from '../input-limit.js';
import { readInput } from '../read-input.js';
import { escapeControls } from '../render-json.js';
import { tellLine } from '../tell-line.js';

/** Adds `sluice repair` to the program. */
export function addRepairCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('repair')
    .description('print broken JSON as valid JSON text')
    .argument('[file]', 'the text; standard input if none is named')
    .action(async (file: string | undefined) => {
      end(await runRepair(file, io));
    });
}

async function runRepair(file: string | undefined, io: CommandIo): Promise<ExitCode> {
  const input = await readInput(file, MAX_INPUT_BYTES, io);
  if ('tooLong' in input) return refuse(`the text is longer than ${MAX_INPUT_BYTES} bytes; cut it first`, io);
  let repaired: string;
  try {
    repaired = repairJson(input.text);
  } catch (error) {
    if (isSluiceError(error)) return refuse(`${error.code}: ${error.message}`, io);
    throw error;
  }
  // For a program the text stays as it is; a terminal might obey what JSON allows inside strings.
  await io.stdout.write(`${io.stdout.isTerminal ? escapeControls(repaired.trimEnd()) : repaired.trimEnd()}\n`);
  return EXIT.success;
}

async function refuse(reason: string, io: CommandIo): Promise<ExitCode> {
  await io.stderr.write(tellLine(reason));
  return EXIT.failed;
}
