import { omitUndefined } from '../../base/index.js';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { limitOption } from '../limit-option.js';
import { printRows } from '../print-rows.js';
import { readPages } from '../read-pages.js';

interface InboxFlags extends HouseFlags {
  readonly all?: boolean;
  readonly issue?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Adds `sluice inbox` to the program. */
export function addInboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('inbox'))
    .description('what waits for a person, oldest first')
    .option('--all', 'also what has been settled')
    .option('--issue <ref>', 'only this issue')
    .addOption(limitOption())
    .option('--json', 'the whole items as a JSON array, also at a terminal')
    .action(async (flags: InboxFlags) => {
      end(await runInbox(flags, io));
    });
}

async function runInbox(flags: InboxFlags, io: CommandIo): Promise<ExitCode> {
  const items = await inHouse(flags, async ({ store }) =>
    readPages(flags.limit, async (page) =>
      store.listInbox({
        ...page,
        ...omitUndefined({ issueRef: flags.issue, open: flags.all === true ? undefined : true }),
      }),
    ),
  );
  await printRows(
    items,
    [
      { heading: 'ID', of: ({ id }) => id },
      { heading: 'ISSUE', of: ({ issue_ref }) => issue_ref },
      { heading: 'RUN', of: ({ run_id }) => run_id },
      { heading: 'SINCE', of: ({ created_at }) => created_at },
      { heading: 'WHY', of: ({ reason }) => reason },
    ],
    flags,
    io,
  );
  return EXIT.success;
}
