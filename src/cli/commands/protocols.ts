import { Readable, Writable } from 'node:stream';
import { omitUndefined, createJsonLogger, type Logger } from '../../base/index.js';
import type { Permissions as AcpPermissions } from '../../server/acp/index.js';
import { CONTEXT_OPTIONS, withService, readWorkerSettings, type CommandContext } from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { readTraceparent } from '../command-config.js';
import { defineCommand, type FlagsOf } from '../command.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { withInterruption } from '../interruption.js';
import { CONTRACT_OPTIONS, parseRetries, parseSeconds, readContract } from '../run-flags.js';
import type { Client } from '../../server/client/index.js';

const ACP_OPTIONS = {
  ...CONTEXT_OPTIONS,
  '--engine <name>': ['agent to run: a built-in or configured engine', { required: true }],
  '--schema <file>': 'JSON Schema (draft 2020-12) that every answer must match',
  ...CONTRACT_OPTIONS,
  '--permissions <which>': [
    'mode of a new session (default: ask if the engine supports it, otherwise safe)',
    ['safe', 'workspace', 'bypass', 'ask'],
  ],
  '--model <name>': 'model for the agent to use',
  '--max-retries <n>': ['retries after an invalid answer (default: 0)', parseRetries],
  '--timeout <seconds>': ['stop a prompt after this time', parseSeconds],
  '--env <names...>': 'environment variables to pass to the agent; patterns such as OPENAI_* are allowed',
  '--ignore-mcp-servers': "ignore the editor's MCP servers, for engines that do not support them",
} as const;

export const addAcpCommand = defineCommand('acp', {
  summary: 'serve an editor over the Agent Client Protocol: every prompt starts a run',
  options: ACP_OPTIONS,
  notes: 'The protocol uses stdin and stdout; the log goes to stderr as JSON lines. Exits when stdin closes.',
  run: async (flags, io) => withService(flags, io, async (context, signal) => serveEditor(context, flags, io, signal)),
});

async function serveEditor(
  context: CommandContext,
  flags: FlagsOf<typeof ACP_OPTIONS>,
  io: CommandIo,
  signal: AbortSignal,
): Promise<ExitCode> {
  const [{ serveAcp }, { DEFAULT_LEASE_MS }, { listLaunchers }, { createPresetLaunchers }] = await Promise.all([
    import('../../server/acp/index.js'),
    import('../../orders/dispatch/index.js'),
    import('../../runs/index.js'),
    import('../../runs/agents/index.js'),
  ]);
  const { store, lead, logger } = context;
  const { runs: settings, leaseMs = DEFAULT_LEASE_MS } = readWorkerSettings(context);
  const runs = { ...settings, launchers: createPresetLaunchers(settings.agents) };
  const launchers = listLaunchers(runs.agents, runs.launchers);
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
  return getExitCode(signal);
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

function toWritable(io: CommandIo): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({ write: async (bytes) => writeToClient(io, decoder.decode(bytes, { stream: true })) });
}

async function writeToClient({ stdout }: CommandIo, text: string): Promise<void> {
  await stdout.write(text);
  if (stdout.isGone?.() === true) throw new Error('the client closed stdout');
}

export const addMcpCommand = defineCommand('mcp', {
  summary: 'serve tools to an agent or an editor over the Model Context Protocol',
  options: {
    ...CONTEXT_OPTIONS,
    '--url <address>': 'server to use, such as http://127.0.0.1:7171 (default: the data folder, without a server)',
    '--no-worker': 'do not execute orders in this process; leave them to a server or sluice worker',
  },
  notes:
    'The protocol uses stdin and stdout; the log goes to stderr as JSON lines. Exits when stdin closes.\nSLUICE_TOKEN is the token for --url. The tool that resolves inbox items is available only if this token has the scope decide.',
  async run({ url, worker = true, ...flags }, io) {
    if (url === undefined)
      return withService(flags, io, async (context, signal) => {
        await forwardToInProcessServer(context, worker, { logger: context.logger, io, signal });
        return getExitCode(signal);
      });
    return withInterruption(async (signal) => {
      await forwardToServer(url, { logger: createRemoteLogger(io), io, signal });
      return getExitCode(signal);
    });
  },
});

function getExitCode(signal: AbortSignal): ExitCode {
  return signal.aborted ? EXIT.canceled : EXIT.success;
}

async function forwardToServer(url: string, connection: Connection): Promise<void> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new MisuseError(`"${url}" is not a valid server address. Use an address such as http://127.0.0.1:7171.`);
  }
  const { createClient } = await import('../../server/client/index.js');
  // The local token has the scope decide, but it belongs to a human: an agent may only decide with a token it was
  // given.
  const mayDecide = (process.env['SLUICE_TOKEN'] ?? '') !== '';
  await serveTools(createClient({ url }), mayDecide, connection);
}

/** Forwards the tool calls to a server in this process, which listens on no port. */
async function forwardToInProcessServer(
  context: CommandContext,
  hasWorker: boolean,
  connection: Connection,
): Promise<void> {
  const [{ createServer, readServerSettings }, { createClient }, { startWorker }] = await Promise.all([
    import('../../server/index.js'),
    import('../../server/client/index.js'),
    import('../../orders/dispatch/index.js'),
  ]);
  const { config, wrappers, store, lead, logger } = context;
  // The server needs no tokens: its only caller is this process.
  const settings = { ...readServerSettings(config, { env: process.env, cwd: process.cwd() }), tokens: [] };
  const server = createServer({ store, lead, wrappers, data: config.data, settings, logger });
  const worker = hasWorker ? startWorker({ store, lead, ...readWorkerSettings(context) }) : undefined;
  const client = createClient({
    url: 'http://127.0.0.1',
    // Ignored by the server. Without a value here, the client would send another server's token.
    token: 'local',
    fetch: async (address, init) => server.app.request(address, init),
  });
  try {
    await serveTools(client, false, connection);
  } finally {
    server.end();
    await worker?.stop({ graceMs: 0 });
  }
}

/** With --url no configuration is loaded, so the logger depends only on the environment. */
function createRemoteLogger(io: CommandIo): Logger {
  const token = process.env['SLUICE_TOKEN'] ?? '';
  const mask = (text: string): string => (token === '' ? text : text.replaceAll(token, '***'));
  return createJsonLogger((line) => void io.stderr.write(line), { mask });
}

interface Connection {
  readonly logger: Logger;
  readonly io: CommandIo;
  readonly signal: AbortSignal;
}

async function serveTools(client: Client, mayDecide: boolean, { logger, io, signal }: Connection): Promise<void> {
  const { serveMcp } = await import('../../server/mcp/index.js');
  const stdin = io.openStdin();
  const input = Readable.from(stdin, { objectMode: false });
  const lines = new WritableStream<string>({ write: async (line) => writeToClient(io, line) });
  const output = Writable.fromWeb(lines, { decodeStrings: false });
  try {
    await serveMcp({ client, mayDecide, input, output, logger, signal });
  } finally {
    // The rest of the input is not needed, so errors of the closed stream are ignored.
    input.on('error', () => undefined).destroy();
    stdin.close?.();
  }
}
