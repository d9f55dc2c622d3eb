import type { Command } from 'commander';
import { replayRunFolder } from '../../run-folder/index.js';
import type { ReplayResult } from '../../run-folder/index.js';
import type { EngineName } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { printJson } from '../print.js';
import { collectWarnings, engineOption } from '../run-folder.js';

interface ReplayFlags {
  readonly engine?: EngineName | 'auto';
}

/** Adds `sluice replay` to the program. */
export function addReplayCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('replay')
    .description('rebuild the events of a run folder and compare them with its logs')
    .argument('<dir>', 'run folder, with its files in .audit or directly in it')
    .addOption(engineOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 identical, or recorded by an older version (the differences are printed), 1 different, 2 the folder is unreadable or has no logs.',
    )
    .action(async (dir: string, flags: ReplayFlags) => {
      end(await runReplay(dir, flags, io));
    });
}

async function runReplay(dir: string, flags: ReplayFlags, io: CommandIo): Promise<ExitCode> {
  const result = await replay(dir, flags, io);
  if (result.status === 'nothing_stored') {
    throw new MisuseError(`"${dir}" has no logs to compare with. Create them with: sluice translate ${dir} --write`);
  }
  await printJson(result, io);
  return result.status === 'different' ? EXIT.failed : EXIT.success;
}

/** Warnings are printed in any case: they may explain why the folder cannot be read. */
async function replay(dir: string, { engine }: ReplayFlags, io: CommandIo): Promise<ReplayResult> {
  const warnings = collectWarnings();
  try {
    return await replayRunFolder(dir, { onWarning: warnings.add, ...(engine === undefined ? {} : { engine }) });
  } finally {
    await io.stderr.write(warnings.text());
  }
}
