import { omitUndefined } from '../../base/index.js';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { OutboxMessage } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { createLimitOption, readPages } from '../list-options.js';
import { formatLine } from '../terminal-text.js';
import { printRows } from '../print.js';

interface OutboxFlags extends ContextFlags {
  readonly state?: OutboxMessage['state'];
  readonly issue?: string;
  readonly deliver?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

export function addOutboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  const outbox = withContextOptions(program.command('outbox'))
    .description('list comments and their delivery state, newest first')
    .addOption(new Option('--state <state>', 'only this state').choices(['waiting', 'sending', 'delivered', 'dead']))
    .option('--issue <ref>', 'only this issue')
    .option('--deliver', 'send due comments first')
    .addOption(createLimitOption())
    .option('--json', 'print all fields as a JSON array, even at a terminal')
    .action(async (flags: OutboxFlags) => {
      end(await runOutbox(flags, io));
    });
  withContextOptions(outbox.command('redeliver'))
    .description('send undelivered comments again')
    .argument('[id]', 'id of the comment to resend')
    .addOption(new Option('--sink <name>', 'resend all undelivered comments of this sink'))
    .action(async (id: string | undefined, flags: RedeliverFlags) => {
      end(await runRedeliver(id, flags, io));
    });
}

interface RedeliverFlags extends ContextFlags {
  readonly sink?: string;
}

async function runRedeliver(id: string | undefined, flags: RedeliverFlags, io: CommandIo): Promise<ExitCode> {
  const { sink } = flags;
  if ((id === undefined) === (sink === undefined)) {
    throw new MisuseError('Pass either the id of a comment or --sink NAME. Use sluice outbox --json to list ids.');
  }
  const selection = id === undefined ? { sink: sink ?? '' } : { id };
  const count = await withContext(flags, io, async ({ store, lead }) => {
    const redelivered = await store.redeliver(selection, store.now());
    await lead.deliver();
    return redelivered;
  });
  // A sink can have no undelivered comments, but an id must identify an undelivered comment.
  if (count === 0 && id !== undefined) {
    await io.stderr.write(formatLine(`No undelivered comment "${id}" found. Use sluice outbox --json to list ids.`));
    return EXIT.failed;
  }
  await io.stderr.write(
    `${count === 1 ? '1 comment' : `${count} comments`} resent. Use sluice outbox to see the outcome.\n`,
  );
  return EXIT.success;
}

async function runOutbox(flags: OutboxFlags, io: CommandIo): Promise<ExitCode> {
  const messages = await withContext(
    flags,
    io,
    async ({ store, lead }) => {
      if (flags.deliver === true) await lead.deliver();
      return readPages(flags.limit, async (page) =>
        store.listOutbox({ ...page, ...omitUndefined({ state: flags.state, issueRef: flags.issue }) }),
      );
    },
    { isReadOnly: flags.deliver !== true },
  );
  await printRows(
    messages,
    [
      { heading: 'ISSUE', value: ({ issue_ref }) => issue_ref },
      { heading: 'TRIGGER', value: ({ trigger }) => trigger },
      { heading: 'SINK', value: ({ sink }) => sink },
      { heading: 'STATE', value: ({ state }) => state },
      { heading: 'TRIES', value: ({ tries }) => tries },
      { heading: 'DESTINATION OR ERROR', value: ({ delivered_to, last_error }) => delivered_to ?? last_error },
    ],
    flags,
    io,
  );
  return EXIT.success;
}
