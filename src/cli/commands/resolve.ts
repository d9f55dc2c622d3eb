import { userInfo } from 'node:os';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { readJsonFile } from '../read-input.js';
import { printJson } from '../print.js';
import { markUnverified } from '../../store/records/index.js';
import type { LineComment } from '../../store/records/index.js';

interface ResolveFlags extends ContextFlags {
  readonly action: 'accept' | 'reject' | 'retry' | 'edit';
  readonly why: string;
  readonly who?: string;
  readonly result?: string;
  readonly comments?: string;
}

export function addResolveCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('resolve'))
    .description('resolve an inbox item')
    .argument('<id>', 'id of the item, from sluice inbox')
    .addOption(
      new Option('--action <what>', 'what to do; retry starts a new run, edit accepts a corrected result')
        .choices(['accept', 'reject', 'retry', 'edit'])
        .makeOptionMandatory(),
    )
    .requiredOption('--why <text>', 'reason, for the record and the comment')
    .option('--who <name>', 'who decides (default: your login name); recorded as unverified')
    .option('--result <file>', 'for edit: the corrected work result, as JSON')
    .option('--comments <file>', 'line comments on the change, as JSON: [{ path, line, side, text }]')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 decided, 2 refused (already decided, another run is active, nothing to accept).',
    )
    .action(async (id: string, flags: ResolveFlags) => {
      end(await runResolve(id, flags, io));
    });
}

async function runResolve(id: string, flags: ResolveFlags, io: CommandIo): Promise<ExitCode> {
  const { action, why } = flags;
  const who = readAuthor(flags.who);
  if (action === 'edit' && flags.result === undefined) {
    throw new MisuseError('--action edit needs the corrected work result. Add --result FILE.');
  }
  const result = flags.result === undefined ? {} : { result: await readJsonFile(flags.result, io) };
  // The lead validates the comments.
  const comments =
    flags.comments === undefined
      ? {}
      : { comments: (await readJsonFile(flags.comments, io)) as readonly LineComment[] };
  return withContext(flags, io, async ({ lead }) => {
    const { item, decision, order } = await lead.resolve({ id, action, why, who, ...result, ...comments });
    await lead.deliver();
    const summary = {
      item,
      action: decision.action,
      reason: decision.reason,
      next: decision.next,
      new_run: order ?? null,
    };
    await printJson(summary, io);
    if (order !== undefined)
      await io.stderr.write(`Queued as run ${order.run_id}. Start sluice worker to execute it.\n`);
    return EXIT.success;
  });
}

/** Returns the name to record: the login name, or the given one, which anyone with a shell can choose. */
export function readAuthor(givenName: string | undefined): string {
  if (givenName !== undefined) return markUnverified(givenName);
  try {
    return userInfo().username;
  } catch (cause) {
    // In a container, the user might not have a name.
    throw new MisuseError('Cannot determine your user name. Pass --who.', { cause });
  }
}
