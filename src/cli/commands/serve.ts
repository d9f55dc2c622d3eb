import { omitUndefined } from '../../base/index.js';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ShownDemo } from '../../dispatch/index.js';
import type { Metrics } from '../../server/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { House, HouseFlags } from '../house.js';
import { listenForInterruption, untilInterrupted } from '../interruption.js';
import type { Interruption } from '../interruption.js';
import { loadLogger } from '../load-logger.js';
import { workerSettings } from '../worker-settings.js';

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
    // Its workers are known as long as there may be orders for them.
    const wrappers = flags.demo ? (await import('../../dispatch/index.js')).demoWrappers() : {};
    const createLogger = await loadLogger(io);
    return await inHouse(flags, async (house) => serveHouse(house, { flags, io, interruption }), {
      wrappers,
      createLogger,
    });
  } finally {
    interruption.stopListening();
  }
}

interface Serving {
  readonly flags: ServeFlags;
  readonly io: CommandIo;
  readonly interruption: Interruption;
}

async function serveHouse(house: House, { flags, io, interruption }: Serving): Promise<ExitCode> {
  const [{ runServer }, { settingsFromConfig }, { createMetrics }, { openTracing }] = await Promise.all([
    import('../../server/index.js'),
    import('../../server/index.js'),
    import('../../server/index.js'),
    import('../../server/index.js'),
  ]);
  const { config, wrappers, store, lead, logger } = house;
  const { data, server: told = {} } = config;
  const settings = settingsFromConfig(config, { env: process.env, cwd: process.cwd() });
  const tracing = await openTracing(logger);
  const metrics = createMetrics({ store, data, logger, tracing, driftThreshold: told.drift_threshold });
  metrics.watch(interruption.signal);
  const help = await startHelp(house, { flags, metrics });
  try {
    const running = await runServer({
      store,
      lead,
      wrappers,
      data,
      settings,
      logger,
      meter: metrics,
      port: flags.port ?? told.port ?? DEFAULT_PORT,
      ...omitUndefined({ worker: help.worker, host: flags.host ?? told.host }),
    });
    try {
      await io.stdout.write(`${running.url}\n`);
      await help.showDemo();
      await untilInterrupted(interruption);
      const graceS = told.grace_s ?? DEFAULT_GRACE_S;
      logger.info('server ends', { busy: help.worker?.busy ?? 0, grace_s: graceS });
      await help.stopDemo();
      await running.stop({ graceMs: graceS * 1000 });
      return EXIT.success;
    } finally {
      // Also where it could not say its address: nobody would know that it is there.
      await running.stop({ graceMs: 0 });
    }
  } finally {
    await help.stop();
  }
}

interface Helping {
  readonly flags: ServeFlags;
  readonly metrics: Metrics;
}

/** What goes on beside the server: work, forgetting, and the demo. */
async function startHelp(house: House, { flags, metrics }: Helping) {
  const [{ startWorker }, { startRetention }, { showDemo }, { readRetention }] = await Promise.all([
    import('../../dispatch/index.js'),
    import('../../dispatch/index.js'),
    import('../../dispatch/index.js'),
    import('../../config/index.js'),
  ]);
  const { config, store, lead, logger } = house;
  const { data } = config;
  const metered = metrics.measureLag(store);
  const worker = flags.worker ? startWorker({ store: metered, lead, ...workerSettings(house) }) : undefined;
  const retention = startRetention({ store, data, logger, settings: readRetention(config) });
  let demo: ShownDemo | undefined;
  return {
    worker,
    /** Without a worker nobody would do its orders. */
    async showDemo() {
      if (!flags.demo || worker === undefined) return;
      demo = await showDemo({ store: metered, lead, data, logger }).catch((error: unknown) => {
        logger.warn('there is no demo', { error: String(error) });
        return undefined;
      });
    },
    stopDemo: async () => demo?.stop(),
    async stop() {
      await demo?.stop();
      await retention.stop();
      await worker?.stop({ graceMs: 0 });
    },
  };
}

function parsePort(word: string): number {
  const port = /^\d{1,5}$/.test(word) ? Number(word) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return port;
}
