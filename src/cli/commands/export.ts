import type { Command } from 'commander';
import { runFolderPath } from '../../run-folder/index.js';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig } from '../load-command-config.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { printJson } from '../print.js';

/** Adds `sluice export` to the program. */
export function addExportCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('export'))
    .description('copy a run folder, for example as a test fixture')
    .argument('<run>', 'id of the run')
    .argument('<target>', 'folder to create, or FILE.tar')
    .addHelpText('after', '\nUse sluice replay TARGET to compare its logs with what this version produces.')
    .action(async (run: string, target: string, flags: ContextFlags) => {
      end(await runExport(run, target, flags, io));
    });
}

async function runExport(run: string, target: string, flags: ContextFlags, io: CommandIo): Promise<ExitCode> {
  const { exportRunFolder } = await import('../../server/index.js');
  const { data } = await loadCommandConfig(flags, io);
  const exported = await exportRunFolder(runFolderPath(data, run), target);
  await printJson(exported, io);
  return EXIT.success;
}
