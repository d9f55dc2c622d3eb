import { omitUndefined } from '../../base/index.js';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { RunningDemo } from '../../orders/dispatch/index.js';
import type { Archive } from '../../runs/archive/index.js';
import type { Metrics } from '../../server/index.js';
import type { CommandIo } from '../command-io.js';
import { compileKnownSecrets } from '../known-secrets.js';
import { loadCommandConfig } from '../load-command-config.js';
import type { Config } from '../../server/config/index.js';
import { parseCount } from '../parse-count.js';
import { EXIT, type ExitCode } from '../failure.js';
import { withContext, withContextOptions, listJobs, loadLogger, readWorkerSettings } from '../command-context.js';
import type { CommandContext, ContextFlags } from '../command-context.js';
import { listenForInterruption, waitForInterruption } from '../interruption.js';
import { formatLine } from '../terminal-text.js';
import type { Interruption } from '../interruption.js';

interface ServeFlags extends ContextFlags {
  readonly host?: string;
  readonly port?: number;
  readonly concurrency?: number;
  readonly worker: boolean;
  readonly demo: boolean;
}

const DEFAULT_PORT = 7171;
/** Long enough for most work, short enough for a restart. */
const DEFAULT_GRACE_S = 30;

export function addServeCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('serve'))
    .description('start the HTTP server with the console')
    .option('--host <address>', 'address to listen on (default: loopback); other addresses require tokens')
    .addOption(
      new Option('--port <n>', `port to listen on (default: ${DEFAULT_PORT}); 0 for any free port`).argParser(
        parsePort,
      ),
    )
    .addOption(
      new Option('--concurrency <n>', 'how many runs to execute concurrently (default: 4)').argParser(parseCount),
    )
    .option('--no-worker', 'do not execute orders and runs in this process')
    .option('--no-demo', 'start without the demo')
    .addHelpText(
      'after',
      '\nThe address goes to stdout, the log to stderr as JSON lines. Ctrl-C shuts down gracefully.\nAgents and editors reach it over the Model Context Protocol at /mcp.',
    )
    .action(async (flags: ServeFlags) => {
      end(await runServe(flags, io));
    });
}

async function runServe(flags: ServeFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    // The demo wrappers stay registered while there might be orders for them.
    const wrappers = flags.demo ? (await import('../../orders/dispatch/index.js')).createDemoWrappers() : {};
    const createLogger = await loadLogger(io);
    return await withContext(flags, io, async (context) => serve(context, { flags, io, interruption }), {
      wrappers,
      createLogger,
    });
  } finally {
    interruption.stopListening();
  }
}

interface ServeOptions {
  readonly flags: ServeFlags;
  readonly io: CommandIo;
  readonly interruption: Interruption;
}

async function serve(context: CommandContext, { flags, io, interruption }: ServeOptions): Promise<ExitCode> {
  const [{ runServer, readServerSettings, createMetrics }, { createArchive, createNotifyPost }, { watchTokens }] =
    await Promise.all([
      import('../../server/index.js'),
      import('../../server/config/index.js'),
      import('../watch-tokens.js'),
    ]);
  const { config, wrappers, store, lead, logger, knownSecrets, tracing } = context;
  const { data, server: fileSettings = {} } = config;
  const host = flags.host ?? fileSettings.host;
  const localToken = await chooseLocalToken(config, host);
  const settings = readServerSettings(config, { env: process.env, cwd: process.cwd(), localToken });
  const notifyPost = createNotifyPost(config, process.env);
  const metrics = createMetrics({ store, data, logger, tracing, driftThreshold: fileSettings.drift_threshold });
  metrics.watch(interruption.signal);
  const archive = await createArchive(config, process.env);
  const services = await startServices(context, { flags, metrics, archive });
  try {
    const running = await runServer({
      store,
      lead,
      wrappers,
      data,
      archive,
      settings,
      logger,
      meter: metrics,
      secrets: await compileKnownSecrets(config, knownSecrets),
      port: flags.port ?? fileSettings.port ?? DEFAULT_PORT,
      ...omitUndefined({
        worker: services.worker,
        host,
        notify: notifyPost === undefined ? undefined : { post: notifyPost, consoleUrl: config.notify?.console_url },
      }),
    });
    const stopWatching = watchTokens({
      config,
      env: process.env,
      load: async () => loadCommandConfig(flags, { ...io, ask: undefined }),
      isLocal: localToken !== undefined,
      replace: (replacement) => {
        knownSecrets.add(replacement.tokens.map(({ value }) => value));
        running.server.replaceTokens(replacement);
      },
      logger,
    });
    try {
      await io.stdout.write(`${running.url}\n`);
      if (localToken !== undefined) knownSecrets.add([localToken]);
      await printLocations({ data, console: running.url, localToken }, { io, logger });
      await services.showDemo();
      await waitForInterruption(interruption);
      const graceS = fileSettings.grace_s ?? DEFAULT_GRACE_S;
      logger.info('server shutting down', { busy: services.worker?.busy ?? 0, grace_s: graceS });
      await services.stopDemo();
      await running.stop({ graceMs: graceS * 1000 });
      return EXIT.success;
    } finally {
      stopWatching();
      // Also reached if the address could not be printed.
      await running.stop({ graceMs: 0 });
    }
  } finally {
    await services.stop();
  }
}

/** Returns this user's token if only this host can reach the server and no tokens are configured. */
async function chooseLocalToken(config: Config, host: string | undefined): Promise<string | undefined> {
  const [{ DEFAULT_HOST, isLoopback }, { openLocalToken, readTokens }] = await Promise.all([
    import('../../server/index.js'),
    import('../../server/config/index.js'),
  ]);
  if (!isLoopback(host ?? DEFAULT_HOST) || readTokens(config, process.env).length > 0) return undefined;
  return (await openLocalToken(process.env)).value;
}

/**
 * Shows the console address and the data folder: as text at a terminal, otherwise in the log, which others may read, so
 * without the token. The address on stdout is for scripts.
 */
async function printLocations(
  locations: { readonly data: string; readonly console: string; readonly localToken: string | undefined },
  { io, logger }: Pick<ServeOptions, 'io'> & Pick<CommandContext, 'logger'>,
): Promise<void> {
  const { data, console, localToken } = locations;
  if (!io.stderr.isTerminal) {
    const hint = localToken === undefined ? {} : { hint: 'Run "sluice token" for the token.' };
    logger.info('server started', { data, console, ...hint });
    return;
  }
  const page = localToken === undefined ? console : `${console}/#token=${localToken}`;
  await io.stderr.write(formatLine(`console: ${page}`) + formatLine(`data folder: ${data}`));
}

interface ServiceOptions {
  readonly flags: ServeFlags;
  readonly metrics: Metrics;
  readonly archive: Archive | undefined;
}

/**
 * Starts maintenance and a worker in the process of the server; with --no-worker, reconciliation instead of the worker.
 * The demo is started later.
 */
async function startServices(context: CommandContext, { flags, metrics, archive }: ServiceOptions) {
  const [{ startWorker, startReaper, startMaintenance, showDemo }, { readPacking, readRetention }] = await Promise.all([
    import('../../orders/dispatch/index.js'),
    import('../../server/config/index.js'),
  ]);
  const { config, store, lead, logger } = context;
  const { data } = config;
  const metered = metrics.measureLag(store);
  // Loaded before anything is started, so an invalid schedule is reported first.
  const jobs = await listJobs(context);
  const worker = flags.worker
    ? startWorker({
        store: metered,
        lead,
        ...readWorkerSettings(context),
        ...omitUndefined({ concurrency: flags.concurrency }),
      })
    : undefined;
  const { leaseMs: everyMs, workerLostRetries } = readWorkerSettings(context);
  const agents = config.agents ?? {};
  const reaper = flags.worker
    ? undefined
    : startReaper({ store, lead, data, logger, agents, ...omitUndefined({ everyMs, workerLostRetries }) });
  const maintenance = startMaintenance({
    store,
    data,
    logger,
    settings: readRetention(config),
    packing: readPacking(config),
    archive,
    repos: lead.repos,
    lead: worker === undefined ? undefined : lead,
    jobs,
  });
  let demo: RunningDemo | undefined;
  return {
    worker,
    /** Does nothing without a worker, because the demo's orders would not be executed. */
    async showDemo() {
      if (!flags.demo || worker === undefined) return;
      demo = await showDemo({ store: metered, lead, data, logger }).catch((error: unknown) => {
        logger.warn('cannot start the demo', { error: String(error) });
        return undefined;
      });
    },
    stopDemo: async () => demo?.stop(),
    async stop() {
      await demo?.stop();
      await maintenance.stop();
      await reaper?.stop();
      await worker?.stop({ graceMs: 0 });
    },
  };
}

function parsePort(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Use a port from 0 to 65535.');
  return port;
}
