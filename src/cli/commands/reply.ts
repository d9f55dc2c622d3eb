import { Option } from 'commander';
import type { Command } from 'commander';
import type { FcmpData } from '../../events/index.js';
import type { Store } from '../../store/index.js';
import type { CommandIo } from '../command-io.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { chooseOption } from '../choose-option.js';
import { printJson } from '../print.js';
import { readAuthor } from './resolve.js';

interface ReplyFlags extends ContextFlags {
  readonly allow?: boolean;
  readonly deny?: boolean;
  readonly text?: string;
  readonly question?: string;
  readonly why?: string;
  readonly who?: string;
}

/** How long to wait for the run to receive a reply. */
const TIMEOUT_MS = 30_000;

export function addReplyCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('reply'))
    .description("answer a waiting run's question")
    .argument('<run>', 'id of the run')
    .addOption(new Option('--allow', 'allow the tool call, if possible only this once').conflicts(['deny', 'text']))
    .addOption(new Option('--deny', 'deny the tool call').conflicts(['allow', 'text']))
    .option('--text <text>', 'answer to a question that is not a permission request')
    .option('--question <id>', 'id of the permission request, such as px_1_2, if more than one is open')
    .option('--why <text>', 'reason, for the record')
    .option('--who <name>', 'who decides (default: your login name); recorded as unverified')
    .addHelpText(
      'after',
      '\nExit codes: 0 the run has received the reply, 2 usage error, or the run has not received the reply.',
    )
    .action(async (run: string, flags: ReplyFlags) => {
      end(await runReply(run, flags, io));
    });
}

async function runReply(run: string, flags: ReplyFlags, io: CommandIo): Promise<ExitCode> {
  const { text } = flags;
  if (text === undefined && flags.allow !== true && flags.deny !== true)
    throw new MisuseError('No reply given. Use --allow, --deny or --text.');
  return withContext(flags, io, async ({ store }) => {
    const { answerPermission, replyToRun } = await import('../../server/index.js');
    const options = { store, shutdownSignal: new AbortController().signal, timeoutMs: TIMEOUT_MS };
    const status =
      text === undefined
        ? await answerPermission(options, run, await chooseAnswer(store, run, flags))
        : await replyToRun(options, run, text);
    if (status === 'not_found') throw createUnknownRunError(run);
    if (status === 'not_waiting') throw new MisuseError(`Run "${run}" is not waiting for this reply.`);
    await printJson({ run, status }, io);
    return EXIT.success;
  });
}

function createUnknownRunError(run: string): MisuseError {
  return new MisuseError(`Run "${run}" not found. Check --data and --database.`);
}

/** Builds the answer to the open permission request. */
async function chooseAnswer(store: Store, run: string, { allow, question, why, who }: ReplyFlags) {
  const openPermissions = await findOpenPermissions(store, run);
  const request =
    question === undefined ? openPermissions[0] : openPermissions.find(({ interaction_id: id }) => id === question);
  if (request === undefined || (question === undefined && openPermissions.length > 1)) {
    const choices = openPermissions.map(({ interaction_id: id, tool }) => `${id} (${tool})`).join(', ');
    if ((await store.findRun(run)) === undefined) throw createUnknownRunError(run);
    throw new MisuseError(
      choices === ''
        ? `Run "${run}" is not waiting for permission.`
        : `Choose an open permission request of run "${run}" with --question: ${choices}.`,
    );
  }
  const option = chooseOption(request.options, allow === true ? 'allow' : 'deny');
  if (option === undefined) {
    const labels = request.options.map(({ label }) => label).join(', ');
    throw new MisuseError(
      `The agent does not offer this answer, only: ${labels}. Use the console or POST /v1/runs/{id}/reply.`,
    );
  }
  return {
    interaction_id: request.interaction_id,
    option_id: option.id,
    who: readAuthor(who),
    ...(why === undefined ? {} : { why }),
  };
}

/** The number of events per read. */
const PAGE_SIZE = 1000;

/** Finds a run's unanswered permission requests. Requests from earlier attempts are no longer open. */
async function findOpenPermissions(store: Store, run: string): Promise<readonly FcmpData<'permission.required'>[]> {
  let openPermissions = new Map<
    string,
    { readonly attempt: number; readonly question: FcmpData<'permission.required'> }
  >();
  for (let after = 0; ;) {
    const page = await store.read({ runId: run, protocol: 'fcmp', after, limit: PAGE_SIZE });
    for (const { protocol, event } of page) {
      if (protocol !== 'fcmp') continue;
      after = event.seq;
      const { attempt } = event.meta;
      openPermissions = new Map([...openPermissions].filter(([, request]) => request.attempt === attempt));
      if (event.type === 'permission.required')
        openPermissions.set(event.data.interaction_id, { attempt, question: event.data });
      else if (event.type === 'permission.replied') openPermissions.delete(event.data.interaction_id);
    }
    if (page.length < PAGE_SIZE) return [...openPermissions.values()].map(({ question }) => question);
  }
}
