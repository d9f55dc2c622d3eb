import type { Command } from 'commander';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { printRows } from '../print.js';

interface WorkersFlags extends ContextFlags {
  readonly json?: boolean;
}

export function addWorkersCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('workers'))
    .description('list the workers that share the database, most recently seen first')
    .option('--json', 'print all fields as a JSON array, even at a terminal')
    .addHelpText('after', '\nA worker that stops reporting is listed as "gone" for one day.')
    .action(async (flags: WorkersFlags) => {
      end(await runWorkers(flags, io));
    });
}

async function runWorkers(flags: WorkersFlags, io: CommandIo): Promise<ExitCode> {
  const workers = await withContext(flags, io, async ({ store }) => store.listWorkers(store.now()), {
    isReadOnly: true,
  });
  await printRows(
    workers,
    [
      { heading: 'HOST', value: ({ host }) => host },
      { heading: 'STATE', value: ({ state }) => state },
      { heading: 'BUSY', value: ({ busy, capacity }) => `${busy} of ${capacity}` },
      { heading: 'VERSION', value: ({ version }) => version },
      { heading: 'LAST SEEN', value: ({ seen_at }) => seen_at },
      { heading: 'ID', value: ({ id }) => id },
    ],
    flags,
    io,
  );
  return EXIT.success;
}
