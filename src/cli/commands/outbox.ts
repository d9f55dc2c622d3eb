import { omitUndefined } from '../../base/index.js';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { OutboxMessage } from '../../records/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { limitOption } from '../limit-option.js';
import { printRows } from '../print-rows.js';
import { readPages } from '../read-pages.js';

interface OutboxFlags extends HouseFlags {
  readonly state?: OutboxMessage['state'];
  readonly issue?: string;
  readonly deliver?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

/** Adds `sluice outbox` to the program. */
export function addOutboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('outbox'))
    .description('comments on their way to the issues, newest first')
    .addOption(new Option('--state <state>', 'only these').choices(['waiting', 'sending', 'delivered', 'dead']))
    .option('--issue <ref>', 'only this issue')
    .option('--deliver', 'first send what is due')
    .addOption(limitOption())
    .option('--json', 'the whole messages as a JSON array, also at a terminal')
    .action(async (flags: OutboxFlags) => {
      end(await runOutbox(flags, io));
    });
}

async function runOutbox(flags: OutboxFlags, io: CommandIo): Promise<ExitCode> {
  const messages = await inHouse(flags, async ({ store, lead }) => {
    if (flags.deliver === true) await lead.deliver();
    return readPages(flags.limit, async (page) =>
      store.listOutbox({ ...page, ...omitUndefined({ state: flags.state, issueRef: flags.issue }) }),
    );
  });
  await printRows(
    messages,
    [
      { heading: 'ISSUE', of: ({ issue_ref }) => issue_ref },
      { heading: 'TRIGGER', of: ({ trigger }) => trigger },
      { heading: 'SINK', of: ({ sink }) => sink },
      { heading: 'STATE', of: ({ state }) => state },
      { heading: 'TRIES', of: ({ tries }) => tries },
      { heading: 'WHERE OR WHY NOT', of: ({ delivered_to, last_error }) => delivered_to ?? last_error },
    ],
    flags,
    io,
  );
  return EXIT.success;
}
