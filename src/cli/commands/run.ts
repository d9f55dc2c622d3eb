import { appendFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { omitUndefined } from '../../base/index.js';
import type { RunResult } from '../../store/records/index.js';
import { prepareDataFolder } from '../../base/files/index.js';
import type { Run } from '../../runs/index.js';
import { readSandbox, type Config } from '../../server/config/index.js';
import { answerQuestions, createEventPrinter } from '../conversation.js';
import type { CommandIo } from '../command-io.js';
import { openCommandTracing, readTraceparent, loadCommandConfig } from '../command-config.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withInterruption } from '../interruption.js';
import { printJson, escapeControls } from '../print.js';
import { parseCores, parseRetries, parseSeconds, readRunSpec, type RunFlags } from '../run-flags.js';
import { formatLine } from '../terminal-text.js';

export function addRunCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('run')
    .description('run an agent, show its events and validate its answer')
    .argument('[words...]', 'prompt; with --engine command: -- COMMAND ARGS')
    .requiredOption(
      '--engine <name>',
      'agent to run: a built-in, preset or configured engine (sluice agents lists them)',
    )
    .option('--format <engine>', 'with --engine command: the engine whose output format the command uses')
    .option('--session <id>', 'engine session to resume instead of starting a new one')
    .option('--schema <file>', 'JSON Schema (draft 2020-12) for the answer')
    .addOption(new Option('--profile <name>', 'parsing rules').choices(['default', 'generic', 'tagged', 'unified']))
    .option('--allow-partial', 'accept a truncated value')
    .option('--align', 'convert near misses to match the schema')
    .option('--no-thinking', 'do not ask the agent for its reasoning before the result')
    .addOption(
      new Option('--mode <mode>', 'interactive lets the agent ask questions (default: auto)').choices([
        'auto',
        'interactive',
      ]),
    )
    .addOption(
      new Option(
        '--permissions <which>',
        'what the agent may do: safe (only read), workspace (also edit the working folder), bypass (everything) or ask (what you or the configured rules allow) (default: safe)',
      ).choices(['safe', 'workspace', 'bypass', 'ask']),
    )
    .addOption(
      new Option(
        '--sandbox <use>',
        'run the agent in a bubblewrap sandbox: auto (if available), required or off (default: auto)',
      ).choices(['auto', 'required', 'off']),
    )
    .option(
      '--network <hosts...>',
      'network access in the sandbox: host (unrestricted), none, or host names (default: host)',
    )
    .addOption(
      new Option(
        '--placement <where>',
        'run the agent on this host (local) or in a container of Podman or Docker (default: local)',
      ).choices(['local', 'container']),
    )
    .option('--image <name>', 'image of the container (default: placements.container.image of the configuration)')
    .option('--cpu <cores>', 'processor cores of the container', parseCores)
    .option('--memory <size>', 'memory of the container, such as 512Mi or 4Gi')
    .option('--model <name>', 'model for the agent to use')
    .option('--max-retries <n>', 'retries after an invalid answer (default: 0)', parseRetries)
    .option('--timeout <seconds>', 'stop the run after this time', parseSeconds)
    .option('--idle-timeout <seconds>', 'stop the run after this time without output', parseSeconds)
    .option('--workdir <dir>', 'working folder (default: the current folder)')
    .option('--no-wait', 'fail if another run uses the working folder, instead of waiting for it')
    .option(
      '--prompt-file <file>',
      "read the prompt from a file, or - for standard input; with --engine command: the command's input",
    )
    .option('--input-file <files...>', 'files the answer depends on, for --cache')
    .option('--env <names...>', 'environment variables to pass to the agent; patterns such as OPENAI_* are allowed')
    .option('--cache', 'reuse the result of an earlier identical run')
    .option('--terminal', 'capture through a terminal instead of pipes')
    .option('--terminal-beside', 'capture through pipes, and also through a terminal to fill gaps in stdout')
    .option('--watch-json', 'print FCMP events as JSON lines on stderr instead of text')
    .option('--summary', 'print the result as Markdown instead of JSON, for a CI job summary')
    .option('--summary-file <file>', 'append the same Markdown to a file, such as "$GITHUB_STEP_SUMMARY"')
    .option('--data <dir>', 'data folder, where runs are stored (default: one per project in your data directory)')
    .option('--config <file>', 'configuration file (default: sluice.config.mjs or .json here)')
    .addHelpText(
      'after',
      '\nThe conversation goes to stderr, the result as JSON to stdout.' +
        '\nExit codes: 0 success (with --profile tagged, also an answer without a value), 1 failed, 2 usage error, 130 canceled (Ctrl-C).',
    )
    .action(async (args: readonly string[], flags: RunFlags) => end(await runRun(args, flags, io)));
}

async function runRun(args: readonly string[], flags: RunFlags, io: CommandIo): Promise<ExitCode> {
  const spec = await readRunSpec(args, flags, io);
  const startedAt = Date.now();
  return withInterruption(async (signal) => {
    // Imported here, because other commands start no processes.
    const [{ startRun }, { createPresetLaunchers }] = await Promise.all([
      import('../../runs/index.js'),
      import('../../runs/agents/index.js'),
    ]);
    const config = await loadCommandConfig(flags, io);
    const { data, programs, agents, approvals, secrets } = config;
    const sandbox = readSandbox(config, process.env);
    await prepareDataFolder(config.data);
    await printSettings(config, flags, io);
    const tracer = await openCommandTracing(config, { io });
    const tracedSpec = { ...spec, ...omitUndefined({ traceparent: readTraceparent() }) };
    // Every warning is also in the result, so with --watch-json stderr contains only events.
    const print = (message: string): void => void (flags.watchJson === true || io.stderr.write(formatLine(message)));
    const run = startRun(tracedSpec, {
      data,
      sandbox,
      launchers: createPresetLaunchers(agents),
      ...omitUndefined({ programs, agents, approvals, secrets, tracer }),
      waitsForFolder: flags.wait !== false,
      onWaiting: print,
      onWarning: ({ message }) => print(message),
    });
    const cancel = (): void => void run.cancel();
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    await follow(run, flags, io);
    const result = await run.result;
    if (result.sandbox?.used === false && flags.watchJson !== true)
      await io.stderr.write(formatLine(`Not sandboxed: ${result.sandbox.reason ?? 'no reason given'}.`));
    await printResult({ run, result, engine: spec.engine, durationMs: Date.now() - startedAt }, flags, io);
    await tracer?.flush();
    return getExitCode(result.status);
  });
}

/** Prints the result as JSON, or as Markdown for a CI job's summary page. */
async function printResult(
  endedRun: { readonly run: Run; readonly result: RunResult; readonly engine: string; readonly durationMs: number },
  { summary, summaryFile }: RunFlags,
  io: CommandIo,
): Promise<void> {
  const { run, result, engine, durationMs } = endedRun;
  if (summary === true || summaryFile !== undefined) {
    const { renderSummary } = await import('../../server/report/index.js');
    const markdown = renderSummary({ id: run.id, engine, durationMs, link: readJobLink(process.env), result });
    // Printed first, because the file might not be writable.
    if (summary === true) await io.stdout.write(markdown);
    else await printJson({ run_id: run.id, ...result }, io);
    if (summaryFile !== undefined) await appendFile(summaryFile, markdown);
    return;
  }
  await printJson({ run_id: run.id, ...result }, io);
}

/** Returns the URL of the CI job that this process runs in, if any. */
function readJobLink(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: job, CI_JOB_URL: gitlab } = env;
  if (server === undefined || repository === undefined || job === undefined) return gitlab;
  return `${server}/${repository}/actions/runs/${job}`;
}

/**
 * Prints warnings about the configuration and the data folder, except with --watch-json, which uses stderr for events.
 */
async function printSettings({ data, warnings }: Config, { watchJson }: RunFlags, io: CommandIo): Promise<void> {
  if (watchJson === true) return;
  for (const warning of warnings) await io.stderr.write(formatLine(warning));
  await io.stderr.write(formatLine(`data folder: ${data}`));
}

/** Prints the events as they arrive, and passes the user's replies to the run. */
async function follow(run: Run, flags: RunFlags, io: CommandIo): Promise<void> {
  const printer = createEventPrinter();
  const answerer = answerQuestions(run, io);
  try {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      const line = flags.watchJson === true ? `${escapeControls(JSON.stringify(event))}\n` : printer.format(event);
      if (line !== '') await io.stderr.write(line);
      answerer.onEvent(event);
    }
  } finally {
    answerer.close();
  }
}

function getExitCode(status: 'success' | 'comment' | 'failed' | 'canceled'): ExitCode {
  if (status === 'canceled') return EXIT.canceled;
  return status === 'failed' ? EXIT.failed : EXIT.success;
}
