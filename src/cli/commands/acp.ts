import { Option } from 'commander';
import type { Command } from 'commander';
import { omitUndefined } from '../../base/index.js';
import type { Permissions as AcpPermissions } from '../../server/acp/index.js';
import { withContext, withContextOptions, loadLogger, readWorkerSettings } from '../command-context.js';
import type { CommandContext, ContextFlags } from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { readTraceparent } from '../command-tracing.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { listenForInterruption } from '../interruption.js';
import { parseRetries, parseSeconds, readContract } from '../run-flags.js';
import type { RunFlags } from '../run-flags.js';

type AcpFlags = ContextFlags &
  Pick<
    RunFlags,
    | 'engine'
    | 'schema'
    | 'profile'
    | 'allowPartial'
    | 'align'
    | 'model'
    | 'maxRetries'
    | 'timeout'
    | 'env'
    | 'permissions'
  > & { readonly ignoreMcpServers?: true };

export function addAcpCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('acp'))
    .description('serve an editor over the Agent Client Protocol: every prompt starts a run')
    .requiredOption('--engine <name>', 'agent to run: a built-in or configured engine')
    .option('--schema <file>', 'JSON Schema (draft 2020-12) that every answer must match')
    .addOption(new Option('--profile <name>', 'parsing rules').choices(['default', 'generic', 'tagged', 'unified']))
    .option('--allow-partial', 'accept a truncated value')
    .option('--align', 'convert near misses to match the schema')
    .addOption(
      new Option(
        '--permissions <which>',
        'mode of a new session (default: ask if the engine supports it, otherwise safe)',
      ).choices(['safe', 'workspace', 'bypass', 'ask']),
    )
    .option('--model <name>', 'model for the agent to use')
    .addOption(new Option('--max-retries <n>', 'retries after an invalid answer (default: 0)').argParser(parseRetries))
    .addOption(new Option('--timeout <seconds>', 'stop a prompt after this time').argParser(parseSeconds))
    .option('--env <names...>', 'environment variables to pass to the agent; patterns such as OPENAI_* are allowed')
    .option('--ignore-mcp-servers', "ignore the editor's MCP servers, for engines that do not support them")
    .addHelpText(
      'after',
      '\nThe protocol uses stdin and stdout; the log goes to stderr as JSON lines. Exits when stdin closes.',
    )
    .action(async (flags: AcpFlags) => {
      end(await runAcp(flags, io));
    });
}

async function runAcp(flags: AcpFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    const createLogger = await loadLogger(io);
    return await withContext(flags, io, async (context) => serve(context, flags, io, interruption.signal), {
      createLogger,
    });
  } finally {
    interruption.stopListening();
  }
}

async function serve(context: CommandContext, flags: AcpFlags, io: CommandIo, signal: AbortSignal): Promise<ExitCode> {
  const [{ serveAcp }, { DEFAULT_LEASE_MS }, { listLaunchers }] = await Promise.all([
    import('../../server/acp/index.js'),
    import('../../orders/dispatch/index.js'),
    import('../../runs/index.js'),
  ]);
  const { store, lead, logger } = context;
  const { runs, leaseMs = DEFAULT_LEASE_MS } = readWorkerSettings(context);
  const launchers = listLaunchers(runs.agents);
  const launcher = Object.hasOwn(launchers, flags.engine) ? launchers[flags.engine] : undefined;
  if (launcher === undefined || flags.engine === 'command') {
    const engines = Object.keys(launchers).filter((engine) => engine !== 'command');
    throw new MisuseError(`Unknown engine "${flags.engine}". Use one of: ${engines.join(', ')}.`);
  }
  const { model, maxRetries: max_retries, timeout, env } = flags;
  const permissions: AcpPermissions = flags.permissions ?? (launcher.canAsk === true ? 'ask' : 'safe');
  if (permissions === 'ask' && launcher.canAsk !== true)
    throw new MisuseError(
      `The engine "${flags.engine}" cannot ask for permissions. Use --permissions safe, workspace or bypass.`,
    );
  const contract = await readContract(flags, io);
  const limits = timeout === undefined ? undefined : { time_s: timeout };
  const stdin = io.openStdin();
  try {
    await serveAcp({
      context: { store, lead, runs, leaseMs, clock: () => store.now(), logger, signal: new AbortController().signal },
      spec: {
        engine: flags.engine,
        permissions,
        ...omitUndefined({ contract, model, max_retries, limits, env, traceparent: readTraceparent() }),
      },
      ignoreServers: flags.ignoreMcpServers === true,
      input: toReadable(stdin),
      output: toWritable(io),
      signal,
    });
  } finally {
    stdin.close?.();
  }
  return signal.aborted ? EXIT.canceled : EXIT.success;
}

function toReadable(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next: IteratorResult<Uint8Array, unknown> = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
}

function toWritable({ stdout }: CommandIo): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({
    write: async (bytes) => {
      await stdout.write(decoder.decode(bytes, { stream: true }));
      if (stdout.isGone?.() === true) throw new Error('the client closed stdout');
    },
  });
}
