import { appendFile } from 'node:fs/promises';
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
import { defineCommand } from '../command.js';
import { readRunSpec, RUN_OPTIONS, type RunFlags } from '../run-flags.js';
import { formatLine } from '../terminal-text.js';

export const addRunCommand = defineCommand('run', {
  summary: 'run an agent, show its events and validate its answer',
  args: { '[words...]': 'prompt; with --engine command: -- COMMAND ARGS' },
  options: RUN_OPTIONS,
  notes:
    'The conversation goes to stderr, the result as JSON to stdout.' +
    '\nExit codes: 0 success (with --profile tagged, also an answer without a value), 1 failed, 2 usage error, 130 canceled (Ctrl-C).',
  async run({ words, ...flags }, io) {
    const spec = await readRunSpec(words, flags, io);
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
  },
});

/** Prints the result as JSON, or as Markdown for a CI job's summary page. */
async function printResult(
  endedRun: { readonly run: Run; readonly result: RunResult; readonly engine: string; readonly durationMs: number },
  { summary, summaryFile }: RunFlags,
  io: CommandIo,
): Promise<void> {
  const { run, result, engine, durationMs } = endedRun;
  // Printed first, because the file might not be writable.
  if (summary !== true) await printJson({ run_id: run.id, ...result }, io);
  if (summary !== true && summaryFile === undefined) return;
  const { renderSummary } = await import('../../server/report/index.js');
  const markdown = renderSummary({ id: run.id, engine, durationMs, link: readJobLink(process.env), result });
  if (summary === true) await io.stdout.write(markdown);
  if (summaryFile !== undefined) await appendFile(summaryFile, markdown);
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
