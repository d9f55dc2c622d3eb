import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { createJsonLogger } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import type { Client } from '../../server/client/index.js';
import { loadLogger, withContext, withContextOptions, readWorkerSettings } from '../command-context.js';
import type { CommandContext, ContextFlags } from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { listenForInterruption } from '../interruption.js';

interface McpFlags extends ContextFlags {
  readonly url?: string;
  readonly worker: boolean;
}

export function addMcpCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('mcp'))
    .description('serve tools to an agent or an editor over the Model Context Protocol')
    .option(
      '--url <address>',
      'server to use, such as http://127.0.0.1:7171 (default: the data folder, without a server)',
    )
    .option('--no-worker', 'do not execute orders in this process; leave them to a server or sluice worker')
    .addHelpText(
      'after',
      '\nThe protocol uses stdin and stdout; the log goes to stderr as JSON lines. Exits when stdin closes.\nSLUICE_TOKEN is the token for --url. The tool that resolves inbox items is available only if this token has the scope decide.',
    )
    .action(async (flags: McpFlags) => {
      end(await runMcp(flags, io));
    });
}

async function runMcp(flags: McpFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const createLogger = await loadLogger(io);
    if (flags.url !== undefined) await forwardToServer(flags.url, { logger: createRemoteLogger(io), io, signal });
    else
      await withContext(flags, io, async (context) => forwardToInProcessServer(context, flags, io, signal), {
        createLogger,
      });
    return signal.aborted ? EXIT.canceled : EXIT.success;
  } finally {
    interruption.stopListening();
  }
}

/** Forwards the tool calls to a running server. */
async function forwardToServer(url: string, connection: Connection): Promise<void> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new MisuseError(`"${url}" is not a valid server address. Use an address such as http://127.0.0.1:7171.`);
  }
  const { createClient } = await import('../../server/client/index.js');
  // The local token has the scope decide, but it belongs to a human: an agent may only decide with a token it was
  // given.
  const mayDecide = (process.env['SLUICE_TOKEN'] ?? '') !== '';
  await serve(createClient({ url }), mayDecide, connection);
}

/** Forwards the tool calls to a server in this process, which listens on no port. */
async function forwardToInProcessServer(
  context: CommandContext,
  flags: McpFlags,
  io: CommandIo,
  signal: AbortSignal,
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
  const worker = flags.worker ? startWorker({ store, lead, ...readWorkerSettings(context) }) : undefined;
  const client = createClient({
    url: 'http://127.0.0.1',
    // Ignored by the server. Without a value here, the client would send another server's token.
    token: 'local',
    fetch: async (address, init) => server.app.request(address, init),
  });
  try {
    await serve(client, false, { logger, io, signal });
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

async function serve(client: Client, mayDecide: boolean, { logger, io, signal }: Connection): Promise<void> {
  const { serveMcp } = await import('../../server/mcp/index.js');
  const stdin = io.openStdin();
  const input = Readable.from(stdin, { objectMode: false });
  const lines = new WritableStream<string>({
    write: async (line) => {
      await io.stdout.write(line);
      if (io.stdout.isGone?.() === true) throw new Error('the client closed stdout');
    },
  });
  const output = Writable.fromWeb(lines, { decodeStrings: false });
  try {
    await serveMcp({ client, mayDecide, input, output, logger, signal });
  } finally {
    // The rest of the input is not needed, so errors of the closed stream are ignored.
    input.on('error', () => undefined).destroy();
    stdin.close?.();
  }
}
