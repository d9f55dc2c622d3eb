import { omitUndefined } from '../../base/index.js';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { createLimitOption, readPages } from '../list-options.js';
import { printRows } from '../print.js';

interface InboxFlags extends ContextFlags {
  readonly all?: boolean;
  readonly issue?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function addInboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('inbox'))
    .description('list results that need a decision, oldest first')
    .option('--all', 'include resolved items')
    .option('--issue <ref>', 'only this issue')
    .addOption(createLimitOption())
    .option('--json', 'print all fields as a JSON array, even at a terminal')
    .action(async (flags: InboxFlags) => {
      end(await runInbox(flags, io));
    });
}

async function runInbox(flags: InboxFlags, io: CommandIo): Promise<ExitCode> {
  const items = await withContext(
    flags,
    io,
    async ({ store }) =>
      readPages(flags.limit, async (page) =>
        store.listInbox({
          ...page,
          ...omitUndefined({ issueRef: flags.issue, open: flags.all === true ? undefined : true }),
        }),
      ),
    { isReadOnly: true },
  );
  await printRows(
    items,
    [
      { heading: 'ID', value: ({ id }) => id },
      { heading: 'ISSUE', value: ({ issue_ref }) => issue_ref },
      { heading: 'RUN', value: ({ run_id }) => run_id },
      { heading: 'SINCE', value: ({ created_at }) => created_at },
      { heading: 'REASON', value: ({ reason }) => reason },
    ],
    flags,
    io,
  );
  return EXIT.success;
}
