import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { loadConfig } from '../../config/index.js';
import { isSluiceError, omitUndefined } from '../../base/index.js';
import { RUN_ENGINES } from '../../records/index.js';
import type { Run } from '../../runs/index.js';
import type { CommandIo } from '../command-io.js';
import { createEventTeller } from '../event-teller.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { listenForInterruption } from '../interruption.js';
import { printJson } from '../print-json.js';
import { escapeControls } from '../render-json.js';
import { specOf } from '../run-flags.js';
import type { RunFlags } from '../run-flags.js';
import { createReplies } from '../replies.js';
import type { Replies } from '../replies.js';
import { tellLine } from '../tell-line.js';

/** Adds `sluice run` to the program. */
export function addRunCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('run')
    .description('start an agent, follow it live, check its answer against a schema')
    .argument('[words...]', 'the prompt; for engine command, after --, the program and its arguments')
    .addOption(new Option('--engine <name>', 'which agent').choices(RUN_ENGINES).makeOptionMandatory())
    .option('--schema <file>', 'a JSON Schema (draft 2020-12) the answer must pass')
    .addOption(
      new Option('--profile <name>', 'whose rules to follow').choices(['default', 'generic', 'tagged', 'unified']),
    )
    .option('--allow-partial', 'take a value that was cut off, as far as it came')
    .option('--align', 'bring near misses into the shape of the schema')
    .addOption(new Option('--mode <mode>', 'interactive: the agent may ask').choices(['auto', 'interactive']))
    .addOption(
      new Option('--permissions <which>', 'what the agent may do without asking').choices([
        'safe',
        'workspace',
        'bypass',
      ]),
    )
    .option('--model <name>', 'which model the agent is to use')
    .addOption(new Option('--max-retries <n>', 'send a wrong answer back this often').argParser(parseCount))
    .addOption(new Option('--timeout <seconds>', 'end the run after this long').argParser(parseSeconds))
    .addOption(new Option('--idle-timeout <seconds>', 'end it after this long without a byte').argParser(parseSeconds))
    .option('--workdir <dir>', 'the folder the agent works in; by default this one')
    .option('--prompt-file <file>', 'the prompt from a file, or - for standard input; with command: its input')
    .option('--input-file <files...>', 'files the answer depends on, for --cache')
    .option('--env <names...>', 'environment variables to hand on; OPENAI_* is a pattern')
    .option('--cache', 'take the answer of an earlier run that was asked the same')
    .option('--terminal', 'run it in a terminal of its own instead of pipes')
    .option('--watch-json', 'FCMP events as JSON lines on stderr instead of the conversation')
    .option('--data <dir>', 'where run folders are kept; by default .sluice')
    .option('--config <file>', 'the settings; by default sluice.config.mjs or .json here')
    .addHelpText(
      'after',
      '\nThe conversation goes to stderr, the result as JSON to stdout.' +
        '\nExit codes: 0 success or comment, 1 failed, 2 called wrongly, 130 canceled (Ctrl-C).',
    )
    .action(async (words: readonly string[], flags: RunFlags) => {
      end(await runRun(words, flags, io));
    });
}

async function runRun(words: readonly string[], flags: RunFlags, io: CommandIo): Promise<ExitCode> {
  const spec = await specOf(words, flags, io);
  const interruption = listenForInterruption();
  // Loaded only here: starting processes is none of the other commands' business.
  const { startRun } = await import('../../runs/index.js');
  try {
    const { data, programs, secrets } = await loadConfig({ cwd: process.cwd(), env: process.env, flags });
    const run = startRun(spec, {
      data,
      ...omitUndefined({ programs, secrets }),
      onWarning: ({ message }) => void io.stderr.write(tellLine(message)),
    });
    const cancel = (): void => void run.cancel();
    if (interruption.signal.aborted) cancel();
    else interruption.signal.addEventListener('abort', cancel, { once: true });
    await follow(run, flags, io);
    const result = await run.result;
    await printJson({ run_id: run.id, ...result }, io);
    return exitCodeOf(result.status);
  } finally {
    interruption.stopListening();
  }
}

/** Tells the events as they come, and hands on what the person answers. */
async function follow(run: Run, flags: RunFlags, io: CommandIo): Promise<void> {
  const teller = createEventTeller();
  let replies: Replies | undefined;
  try {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      const said = flags.watchJson === true ? `${escapeControls(JSON.stringify(event))}\n` : teller.tell(event);
      if (said !== '') await io.stderr.write(said);
      if (event.type !== 'user.input.required') continue;
      replies ??= createReplies(io);
      // Beside the events: the run may end before anybody answers.
      void answer(run, replies, io).catch(() => undefined);
    }
  } finally {
    replies?.close();
  }
}

/** Hands on the first line that is an answer. One that comes after the end of the run has nobody to go to. */
async function answer(run: Run, replies: Replies, io: CommandIo): Promise<void> {
  for (;;) {
    const reply = await replies.next();
    // Nobody is there to answer, so nobody waits.
    if (reply === undefined) return run.cancel();
    try {
      return await run.reply(reply);
    } catch (error) {
      if (!isSluiceError(error) || error.code !== 'INVALID_REPLY') throw error;
      await io.stderr.write(tellLine(error.message));
    }
  }
}

function exitCodeOf(status: 'success' | 'comment' | 'failed' | 'canceled'): ExitCode {
  if (status === 'canceled') return EXIT.canceled;
  return status === 'failed' ? EXIT.failed : EXIT.success;
}

function parseCount(word: string): number {
  if (!/^\d{1,3}$/.test(word)) throw new InvalidArgumentError('Give a whole number from 0 to 999.');
  return Number(word);
}

function parseSeconds(word: string): number {
  const seconds = Number(word);
  if (!(seconds > 0 && seconds <= 7 * 24 * 3600))
    throw new InvalidArgumentError('Give seconds, more than 0, at most a week.');
  return seconds;
}
