import type { Command } from 'commander';
import { loadConfig } from '../../config/index.js';
import { runFolderPath } from '../../run-folder/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { printJson } from '../print-json.js';

/** Adds `sluice export` to the program. */
export function addExportCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('export'))
    .description('take the folder of a run away as a fixture: a surprise becomes a regression test')
    .argument('<run>', 'the id of the run')
    .argument('<target>', 'a folder to make, or FILE.tar')
    .addHelpText('after', '\nsluice replay TARGET then compares what was told with what this version tells.')
    .action(async (run: string, target: string, flags: HouseFlags) => {
      end(await runExport(run, target, flags, io));
    });
}

async function runExport(run: string, target: string, flags: HouseFlags, io: CommandIo): Promise<ExitCode> {
  const { exportRunFolder } = await import('../../server/index.js');
  const { data } = await loadConfig({ cwd: process.cwd(), env: process.env, flags });
  const exported = await exportRunFolder(runFolderPath(data, run), target);
  await printJson(exported, io);
  return EXIT.success;
}
