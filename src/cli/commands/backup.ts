import type { Command } from 'commander';
import { loadConfig } from '../../config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { printJson } from '../print-json.js';

/** Adds `sluice backup` to the program. */
export function addBackupCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('backup'))
    .description('copy the SQLite database into a file, also while a server uses it; the copy is opened and checked')
    .argument('<file>', 'the copy; a file that is there is left alone')
    .addHelpText('after', '\nRun folders are files: copy them as such. docs/operations.md tells how to restore.')
    .action(async (file: string, flags: HouseFlags) => {
      end(await runBackup(file, flags, io));
    });
}

async function runBackup(file: string, flags: HouseFlags, io: CommandIo): Promise<ExitCode> {
  const { backUpStore } = await import('../../store/index.js');
  const { database } = await loadConfig({ cwd: process.cwd(), env: process.env, flags });
  const backup = await backUpStore(database, file);
  await printJson(backup, io);
  return EXIT.success;
}
