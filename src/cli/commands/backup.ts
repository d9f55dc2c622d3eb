import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig } from '../load-command-config.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { withProgress } from '../progress.js';
import { printJson } from '../print.js';

export function addBackupCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('backup'))
    .description('copy the SQLite database to a file, even while a server uses it, and verify the copy')
    .argument('<file>', 'file to create; an existing file is not overwritten')
    .addHelpText(
      'after',
      '\nRun folders are not included: copy them as files. docs/operations.md describes how to restore.',
    )
    .action(async (file: string, flags: ContextFlags) => {
      end(await runBackup(file, flags, io));
    });
}

async function runBackup(file: string, flags: ContextFlags, io: CommandIo): Promise<ExitCode> {
  const { backUpStore } = await import('../../store/index.js');
  const { database } = await loadCommandConfig(flags, io);
  const backup = await withProgress(io, { label: 'backup', unit: 'bytes' }, async (set) =>
    backUpStore(database, file, { onProgress: ({ bytes, total }) => set(bytes, total) }),
  );
  await printJson(backup, io);
  return EXIT.success;
}
