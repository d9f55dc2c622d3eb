import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { Config } from '../../config/config.js';
import type { Logger } from '../../runs/logger/logger.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { given } from '../given.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { House, HouseFlags } from '../house.js';
import { listenForInterruption } from '../interruption.js';
import type { Interruption } from '../interruption.js';

interface ServeFlags extends HouseFlags {
  readonly host?: string;
  readonly port?: number;
  readonly worker: boolean;
  readonly demo: boolean;
}

const DEFAULT_PORT = 7171;
/** Long enough for most work, short enough for whoever waits for the machine. */
const DEFAULT_GRACE_S = 30;

/** Adds `sluice serve` to the program. */
export function addServeCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('serve'))
    .description('the server: runs, orders, live events and decisions over HTTP')
    .option('--host <address>', 'where to listen; loopback by default, any other address needs tokens')
    .addOption(new Option('--port <n>', `${DEFAULT_PORT} by default, 0 for any free one`).argParser(parsePort))
    .option('--no-worker', 'only answer; `sluice worker` does the work elsewhere')
    .option('--no-demo', 'start empty, without the bundled demo')
    .addHelpText(
      'after',
      '\nIts address goes to stdout, what it does to stderr, a line of JSON each. Ctrl-C ends it in order.',
    )
    .action(async (flags: ServeFlags) => {
      end(await runServe(flags, io));
    });
}

async function runServe(flags: ServeFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    return await inHouse(flags, async (house) => serveHouse(house, { flags, io, interruption }));
  } finally {
    interruption.stopListening();
  }
}

interface Serving {
  readonly flags: ServeFlags;
  readonly io: CommandIo;
  readonly interruption: Interruption;
}

async function serveHouse({ config, store, lead }: House, { flags, io, interruption }: Serving): Promise<ExitCode> {
  const [{ runServer }, { settingsFromConfig }, { startWorker }] = await Promise.all([
    import('../../server/run-server.js'),
    import('../../server/settings-from-config.js'),
    import('../../dispatch/start-worker.js'),
  ]);
  const settings = settingsFromConfig(config, { env: process.env, cwd: process.cwd() });
  const logger = await createLogger(config, settings.tokens, io);
  const { data, wrappers, programs, secrets, concurrency: concurrencyByType, server: told = {} } = config;
  const leaseMs = config.lease_s === undefined ? undefined : config.lease_s * 1000;
  const worker = flags.worker
    ? startWorker({
        store,
        lead,
        logger,
        runs: { data, logger, ...given({ programs, secrets }) },
        ...given({ concurrencyByType, leaseMs }),
      })
    : undefined;
  try {
    const running = await runServer({
      store,
      lead,
      data,
      settings,
      logger,
      port: flags.port ?? told.port ?? DEFAULT_PORT,
      ...given({ wrappers, worker, host: flags.host ?? told.host }),
    });
    await io.stdout.write(`${running.url}\n`);
    await aborted(interruption.signal);
    logger.info('server ends');
    await running.stop({ graceMs: (told.grace_s ?? DEFAULT_GRACE_S) * 1000 });
    return EXIT.success;
  } finally {
    await worker?.stop({ graceMs: 0 });
  }
}

/** Tokens are hidden wherever they turn up. */
async function createLogger(
  { server: { log_level: level } = {} }: Config,
  tokens: readonly { readonly value: string }[],
  io: CommandIo,
): Promise<Logger> {
  const { createJsonLogger } = await import('../../runs/logger/json-logger.js');
  const mask = (text: string): string => tokens.reduce((masked, { value }) => masked.replaceAll(value, '***'), text);
  return createJsonLogger((line) => void io.stderr.write(line), { mask, ...given({ level }) });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function parsePort(word: string): number {
  const port = /^\d{1,5}$/.test(word) ? Number(word) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return port;
}
