import { unwatchFile, watchFile } from 'node:fs';
import { hostname } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { omitUndefined, getErrorMessage, type Logger } from '../../base/index.js';
import type { RunningDemo } from '../../orders/dispatch/index.js';
import type { Metrics, TokenSettings, WorkSettings } from '../../server/index.js';
import type { CommandIo } from '../command-io.js';
import { compileKnownSecrets, loadCommandConfig } from '../command-config.js';
import { parseCount } from '../run-flags.js';
import { defineCommand, type FlagsOf } from '../command.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { CONTEXT_OPTIONS, withService, readWorkerSettings, type CommandContext } from '../command-context.js';
import {
  createArchive,
  createNotifyPost,
  openLocalToken,
  readPacking,
  readRetention,
  readTokens,
  type Config,
  findLocalTokenFile,
  findTokensFile,
  readLocalToken,
} from '../../server/config/index.js';
import { waitForInterruption } from '../interruption.js';
import { formatLine } from '../terminal-text.js';

const DEFAULT_PORT = 7171;
const NO_WORD_INDEX =
  'Searches for words read runs page by page, because the index is missing. As a role that may, run in the database: CREATE EXTENSION pg_trgm; CREATE INDEX CONCURRENTLY run_words_by_trigram ON sluice.run_words USING gin (words gin_trgm_ops). Then restart.';
/** Long enough for most work, short enough for a restart. */
const DEFAULT_GRACE_S = 30;

const SERVE_OPTIONS = {
  ...CONTEXT_OPTIONS,
  '--host <address>': 'address to listen on (default: loopback); other addresses require tokens',
  '--port <n>': [`port to listen on (default: ${DEFAULT_PORT}); 0 for any free port`, parsePort],
  '--concurrency <n>': ['how many runs to execute concurrently (default: 4)', parseCount],
  '--no-worker': 'do not execute orders and runs in this process',
  '--no-demo': 'start without the demo',
} as const;

type ServeFlags = FlagsOf<typeof SERVE_OPTIONS>;

export const addServeCommand = defineCommand('serve', {
  summary: 'start the HTTP server with the console',
  options: SERVE_OPTIONS,
  notes:
    'The address goes to stdout, the log to stderr as JSON lines. Ctrl-C shuts down gracefully.\nAgents and editors reach it over the Model Context Protocol at /mcp.',
  async run(flags, io) {
    // The demo wrappers stay registered while there might be orders for them.
    const wrappers = flags.demo === false ? {} : (await import('../../orders/dispatch/index.js')).createDemoWrappers();
    return withService(flags, io, async (context, signal) => serve(context, { flags, io, signal }), { wrappers });
  },
});

interface ServeOptions {
  readonly flags: ServeFlags;
  readonly io: CommandIo;
  readonly signal: AbortSignal;
}

async function serve(context: CommandContext, { flags, io, signal }: ServeOptions): Promise<ExitCode> {
  const { runServer, readServerSettings, createMetrics } = await import('../../server/index.js');
  const { config, wrappers, store, lead, logger, knownSecrets, tracing } = context;
  const { data, server: fileSettings = {} } = config;
  const host = flags.host ?? fileSettings.host;
  if (!store.hasWordIndex) logger.warn(NO_WORD_INDEX);
  const localToken = await chooseLocalToken(config, host);
  const settings = readServerSettings(config, { env: process.env, cwd: process.cwd(), localToken });
  const notifyPost = createNotifyPost(config, process.env);
  const metrics = createMetrics({ store, data, logger, tracing, driftThreshold: fileSettings.drift_threshold });
  metrics.watch(signal);
  // Prepared before anything is started, so invalid settings are reported first.
  const upkeep = await prepareMaintenance(context);
  const remote = await admitRemoteWorkers(context, upkeep.archive !== undefined);
  const services = await startServices(context, flags, metrics, upkeep);
  try {
    const running = await runServer({
      store,
      lead,
      wrappers,
      data,
      archive: upkeep.archive,
      settings,
      logger,
      meter: metrics,
      secrets: await compileKnownSecrets(config, knownSecrets),
      work: readWorkSettings(context),
      port: flags.port ?? fileSettings.port ?? DEFAULT_PORT,
      ...omitUndefined({
        worker: services.worker,
        host,
        tls: fileSettings.tls,
        placing: await openPlacements(context),
        notify: notifyPost === undefined ? undefined : { post: notifyPost, consoleUrl: config.notify?.console_url },
      }),
    });
    const reload = createTokenReload({
      env: process.env,
      load: async () => loadCommandConfig(flags, { ...io, ask: undefined }),
      isLocal: localToken !== undefined,
      replace: (replacement) => {
        knownSecrets.add(replacement.tokens.map(({ value }) => value));
        running.server.replaceTokens(replacement);
      },
      logger,
    });
    const localFile = localToken === undefined ? undefined : findLocalTokenFile(process.env);
    const stopWatching = watchFiles([config.file, findTokensFile(process.env), localFile], () => void reload());
    try {
      await io.stdout.write(`${running.url}\n`);
      if (localToken !== undefined) knownSecrets.add([localToken]);
      await printLocations({ data, console: running.url, localToken }, { io, logger });
      await services.showDemo();
      await waitForInterruption(signal);
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
    await remote.stop();
  }
}

/** Reads what the server decides for the workers that connect to it. */
function readWorkSettings(context: CommandContext): WorkSettings {
  const { leaseMs, concurrencyByType, workerLostRetries, runs } = readWorkerSettings(context);
  const { approvals, secrets } = runs;
  const secretPatterns = secrets?.patterns;
  return omitUndefined({ leaseMs, concurrencyByType, workerLostRetries, approvals, secretPatterns });
}

/** Returns this user's token if only this host can reach the server and no tokens are configured. */
async function chooseLocalToken(config: Config, host: string | undefined): Promise<string | undefined> {
  const { DEFAULT_HOST, isLoopback } = await import('../../server/index.js');
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

export async function prepareMaintenance({ config, store, lead, logger }: CommandContext) {
  const { createScheduleJob } = await import('../../orders/dispatch/index.js');
  const { data, schedules = {} } = config;
  return {
    store,
    data,
    logger,
    settings: readRetention(config),
    packing: readPacking(config),
    archive: await createArchive(config, process.env),
    repos: lead.repos,
    // Only one process at a time submits the orders on a schedule.
    jobs: Object.keys(schedules).length === 0 ? [] : [createScheduleJob({ schedules, lead, store, logger })],
  };
}

/**
 * Starts maintenance and a worker in the process of the server; with --no-worker, reconciliation instead of the worker.
 * The demo is started later.
 */
async function startServices(
  context: CommandContext,
  flags: ServeFlags,
  metrics: Metrics,
  upkeep: Awaited<ReturnType<typeof prepareMaintenance>>,
) {
  const { startWorker, startReaper, startMaintenance, showDemo } = await import('../../orders/dispatch/index.js');
  const { config, store, lead, logger } = context;
  const { data, agents = {} } = config;
  const metered = metrics.measureLag(store);
  const settings = readWorkerSettings(context);
  const sessions = upkeep.archive?.sessions;
  const worker = flags.worker
    ? startWorker({ store: metered, lead, sessions, ...settings, ...omitUndefined({ concurrency: flags.concurrency }) })
    : undefined;
  const { leaseMs: everyMs, workerLostRetries } = settings;
  const containers = settings.runs.sandbox?.container;
  const reaper = flags.worker
    ? undefined
    : startReaper({
        store,
        lead,
        data,
        logger,
        agents,
        containers,
        sessions,
        ...omitUndefined({ everyMs, workerLostRetries }),
      });
  // Workers that connect over HTTPS deliver nothing themselves.
  const delivers = worker !== undefined || admitsWorkers(config);
  const maintenance = startMaintenance({ ...upkeep, lead: delivers ? lead : undefined });
  let demo: RunningDemo | undefined;
  return {
    worker,
    /**
     * Does nothing without a worker, because the demo's orders would not be executed, and with a configuration file:
     * a configured server is for real work.
     */
    async showDemo() {
      if (!flags.demo || worker === undefined || config.file !== null) return;
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

/** Opens the placements of the configuration whose places a server starts. */
async function openPlacements({ config: { placements }, logger }: CommandContext) {
  if (placements?.kubernetes === undefined) return undefined;
  const { openKubernetesPlacement } = await import('../../orders/placement/index.js');
  const { server, ...settings } = placements.kubernetes;
  return { placements: [await openKubernetesPlacement(settings, { logger })], server };
}

const POLL_MS = 1000;

interface TokenSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly load: () => Promise<Pick<Config, 'tokens'>>;
  /** Whether the server accepts this user's token while no tokens are configured. */
  readonly isLocal: boolean;
  readonly replace: (settings: TokenSettings) => void;
  readonly logger: Logger;
}

/** Watches files, so a server accepts new tokens without a restart. Returns the function that stops watching. */
function watchFiles(candidates: readonly (string | null | undefined)[], listener: () => void): () => void {
  const files = candidates.filter((file) => file !== null && file !== undefined);
  for (const file of files) watchFile(file, { interval: POLL_MS, persistent: false }, listener);
  return () => {
    for (const file of files) unwatchFile(file, listener);
  };
}

/**
 * Creates a function that reloads the tokens. Reloads run one after another, so the last one takes effect. A file that
 * cannot be read, or that is no longer trusted, changes nothing.
 */
export function createTokenReload({ env, load, isLocal, replace, logger }: TokenSource): () => Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      const { readTokenSettings } = await import('../../server/index.js');
      const localToken = isLocal ? await readLocalToken(env) : undefined;
      const settings = readTokenSettings(await load(), { env, localToken });
      // Without tokens, the server would admit everyone.
      if (settings.tokens.length === 0) throw new Error('no tokens are configured anymore');
      replace(settings);
      logger.info('tokens reloaded', { tokens: settings.tokens.map(({ name }) => name) });
    } catch (error) {
      logger.warn('cannot reload the tokens; the old tokens stay valid', { error: getErrorMessage(error) });
    }
  };
  let last = Promise.resolve();
  return async () => (last = last.then(reload));
}

function admitsWorkers(config: Pick<Config, 'tokens'>): boolean {
  return readTokens(config, process.env).some(({ scopes }) => scopes.includes('worker'));
}

/** The lease on the files that workers send, and how long it is valid without being renewed. */
const FILES_LEASE = { name: 'files of workers', ms: 30_000 };

/**
 * Without an archive, the files of workers over HTTPS are only in one data folder, so only servers that share it may
 * admit such workers. The owner of the lease is that folder: a server that restarts gets it back immediately.
 */
export async function admitRemoteWorkers({ config, store, logger }: CommandContext, hasArchive: boolean) {
  if (!admitsWorkers(config) || hasArchive) return { stop: async () => undefined };
  const owner = `${hostname()}:${config.data}`;
  const lease = async () => {
    const now = store.now();
    return store.leaseJobs({ names: [FILES_LEASE.name], owner, now, until: now + FILES_LEASE.ms });
  };
  if ((await lease()).length === 0) {
    throw new MisuseError(
      'Another server shares this database and admits workers over HTTPS. Configure an archive, so that every server can read their files, or remove the scope "worker" from the tokens of this server.',
    );
  }
  const renew = (): void =>
    void lease().catch((error: unknown) => logger.warn('cannot renew a lease', { error: getErrorMessage(error) }));
  const timer = setInterval(renew, FILES_LEASE.ms / 3).unref();
  return {
    async stop() {
      clearInterval(timer);
      await store.releaseJobs(owner).catch(() => undefined);
    },
  };
}
