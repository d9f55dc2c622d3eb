import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { listenForInterruption } from '../interruption.js';
import { printJson } from '../print.js';
import { withProgress } from '../progress.js';

export function addMigrateCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('migrate')
    .description('copy a store from SQLite to PostgreSQL, or back, and compare every row')
    .argument('<source>', 'sqlite:FILE or postgres://…; it is left unchanged')
    .argument('<target>', 'an empty database or a new file of the other type')
    .addHelpText(
      'after',
      `
Stop all servers and workers first. If the command was interrupted, run it again: it continues.
Use PGPASSWORD to keep the password off the command line. Run folders are not included: copy them as files.`,
    )
    .action(async (source: string, target: string) => {
      end(await runMigrate(source, target, io));
    });
}

async function runMigrate(source: string, target: string, io: CommandIo): Promise<ExitCode> {
  const { migrateStore } = await import('../../store/index.js');
  const interruption = listenForInterruption();
  try {
    const report = await withProgress(io, { label: 'migrate', unit: 'rows' }, async (set) =>
      migrateStore(source, target, {
        onProgress: ({ table, rows, total }) => set(rows, total, table),
        signal: interruption.signal,
      }),
    );
    await printJson(report, io);
    return EXIT.success;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    await io.stderr.write('Interrupted. Run the same command again to continue.\n');
    return EXIT.canceled;
  } finally {
    interruption.stopListening();
  }
}
