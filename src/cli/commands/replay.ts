import type { Command } from 'commander';
import { replayRunFolder } from '../../run-folder/index.js';
import type { ReplayResult } from '../../run-folder/index.js';
import type { EngineName } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { MisuseError } from '../misuse-error.js';
import { printJson } from '../print-json.js';
import { collectWarnings, engineOption } from '../run-folder.js';

interface ReplayFlags {
  readonly engine?: EngineName | 'auto';
}

/** Adds `sluice replay` to the program. */
export function addReplayCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('replay')
    .description('rebuild the events of a run folder from its bytes and compare them with its logs')
    .argument('<dir>', 'the run folder: its files are in .audit or directly in it')
    .addOption(engineOption())
    .addHelpText('after', '\nExit codes: 0 the same, 1 different, 2 the folder cannot be read or holds no logs.')
    .action(async (dir: string, flags: ReplayFlags) => {
      end(await runReplay(dir, flags, io));
    });
}

async function runReplay(dir: string, flags: ReplayFlags, io: CommandIo): Promise<ExitCode> {
  const result = await replay(dir, flags, io);
  if (result.status === 'nothing_stored') {
    throw new MisuseError(`${dir} holds no logs to compare with: 'sluice translate ${dir} --write' writes them`);
  }
  await printJson(result, io);
  return result.status === 'same' ? EXIT.success : EXIT.failed;
}

/** What the reading has to say is told in any case: it may be why the folder cannot be read. */
async function replay(dir: string, { engine }: ReplayFlags, io: CommandIo): Promise<ReplayResult> {
  const warnings = collectWarnings();
  try {
    return await replayRunFolder(dir, { onWarning: warnings.add, ...(engine === undefined ? {} : { engine }) });
  } finally {
    await io.stderr.write(warnings.text());
  }
}
