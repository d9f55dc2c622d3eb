import { existsSync } from 'node:fs';
import { createSinks, findDatabaseFile, readCommentTemplate, readSandbox } from '../server/config/index.js';
import type { Config, ConfigFlags } from '../server/config/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import { createJsonLogger, silentLogger, omitUndefined, type Logger } from '../base/index.js';
import { prepareDataFolder } from '../base/files/index.js';
import type { Store } from '../store/index.js';
import type { Tracing } from '../server/tracing/index.js';
import type { CommandIo } from './command-io.js';
import { createKnownSecrets, loadCommandConfig, openCommandTracing, type KnownSecrets } from './command-config.js';
import { withInterruption } from './interruption.js';
import { formatLine } from './terminal-text.js';

export interface CommandContext {
  readonly config: Config;
  /** The wrappers that orders may name. */
  readonly wrappers: Wrappers;
  readonly store: Store;
  readonly lead: Lead;
  /** Logs nothing unless the command sets `createLogger`. */
  readonly logger: Logger;
  /** The values that the logger masks. */
  readonly knownSecrets: KnownSecrets;
  /** Undefined without an OpenTelemetry SDK in this process. */
  readonly tracing: Tracing | undefined;
}

interface ContextOptions {
  readonly wrappers?: Wrappers;
  readonly createLogger?: (config: Config, knownSecrets: KnownSecrets) => Logger;
  /** Whether the command only reads records, so it creates no folder and no database. */
  readonly isReadOnly?: boolean;
  /** Maximum number of database connections, unless the configuration sets it. */
  readonly pool?: number;
}

export const CONTEXT_OPTIONS = {
  '--data <dir>': 'folder for run folders, comments and the database (default: one per project in your data directory)',
  '--database <url>': 'sqlite:FILE or postgres://… (default: a file in the data folder)',
  '--config <file>': 'configuration file (default: sluice.config.mjs or .json here)',
} as const;

/** Opens the context for one command and closes it afterwards. */
export async function withContext<T>(
  flags: ConfigFlags,
  io: CommandIo,
  work: (context: CommandContext) => Promise<T>,
  { wrappers: extraWrappers = {}, createLogger, isReadOnly = false, pool }: ContextOptions = {},
): Promise<T> {
  // Imported here, because other commands need no database and no forge clients.
  const [{ createLead, readChecks, readGitFilters, readRepos, readWrappers }, { openStore }, { findDemoWrappers }] =
    await Promise.all([
      import('../orders/index.js'),
      import('../store/index.js'),
      import('../orders/dispatch/index.js'),
    ]);
  const config = await loadCommandConfig(flags, io);
  const knownSecrets = createKnownSecrets(config);
  const logger = createLogger?.(config, knownSecrets) ?? silentLogger;
  for (const warning of config.warnings) {
    if (createLogger === undefined) await io.stderr.write(formatLine(warning));
    else logger.warn(warning);
  }
  // The configuration overrides wrappers of the same name from a command or a demo.
  const wrappers: Wrappers = {
    ...(await findDemoWrappers(config.data)),
    ...extraWrappers,
    ...readWrappers(config.wrappers ?? {}, ['local', ...Object.keys({ container: {}, ...config.placements })]),
  };
  const { data, secrets, max_delivery_tries: maxTries } = config;
  const sinks = createSinks(config, process.env);
  const commentTemplate = await readCommentTemplate(config);
  const filters = await readGitFilters(config.git?.filters ?? []);
  if (!isReadOnly) await prepareDataFolder(data);
  const store = await openStore(
    isReadOnly ? await findDatabase(config, flags, io) : config.database,
    omitUndefined({ pool: config.pool ?? pool }),
  );
  try {
    const lead = createLead({
      store,
      sinks,
      data,
      backoff: omitUndefined({ maxTries }),
      wrappers,
      checks: readChecks(config.checks ?? {}),
      repos: readRepos(config.repos ?? [], process.env),
      filters,
      logger,
      ...omitUndefined({ secrets, commentTemplate }),
    });
    try {
      const tracing = isReadOnly ? undefined : await openCommandTracing(config, { logger, io });
      try {
        return await work({ config, wrappers, store, lead, logger, knownSecrets, tracing });
      } finally {
        await tracing?.flush();
      }
    } finally {
      await lead.close();
    }
  } finally {
    await store.close();
  }
}

/** Reads records: creates no folder and no database. */
export async function readRecords<T>(flags: ConfigFlags, io: CommandIo, read: (context: CommandContext) => Promise<T>) {
  return withContext(flags, io, read, { isReadOnly: true });
}

/** Returns the database to read. A missing one counts as empty, with a note if it was named. */
async function findDatabase({ database }: Config, flags: ConfigFlags, io: CommandIo): Promise<string> {
  const file = findDatabaseFile(database);
  if (file === undefined || existsSync(file)) return database;
  if (flags.database !== undefined || flags.data !== undefined)
    await io.stderr.write(formatLine(`There is no database at "${file}" yet.`));
  return 'memory:';
}

/** Opens the context of a long-running command, with a log and a signal for its interruption. */
export async function withService<T>(
  flags: ConfigFlags,
  io: CommandIo,
  work: (context: CommandContext, signal: AbortSignal) => Promise<T>,
  options: Omit<ContextOptions, 'createLogger'> = {},
): Promise<T> {
  return withInterruption(async (signal) =>
    withContext(flags, io, async (context) => work(context, signal), {
      ...options,
      createLogger: (config, knownSecrets) => createServiceLogger(config, knownSecrets, io),
    }),
  );
}

/** Creates a long-running command's logger from its configuration: JSON lines on stderr, with all secrets masked. */
export function createServiceLogger(config: Config, knownSecrets: KnownSecrets, io: CommandIo): Logger {
  const mask = (text: string): string =>
    knownSecrets.values.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
  const level = config.server?.log_level;
  return createJsonLogger((line) => void io.stderr.write(line), { mask, ...omitUndefined({ level }) });
}

export function readWorkerSettings({
  config,
  logger,
  tracing: tracer,
}: Pick<CommandContext, 'config' | 'logger' | 'tracing'>) {
  const { data, programs, agents, approvals, secrets, concurrency: concurrencyByType, lease_s: leaseS } = config;
  const { retries, budgets, roots = [process.cwd()] } = config;
  const sandbox = { ...readSandbox(config, process.env), roots };
  return {
    logger,
    runs: { data, logger, sandbox, ...omitUndefined({ programs, agents, approvals, secrets, tracer }) },
    ...omitUndefined({
      concurrencyByType,
      budgets,
      leaseMs: leaseS === undefined ? undefined : leaseS * 1000,
      workerLostRetries: retries?.worker_lost,
    }),
  };
}

/** Returns a database's address without user and password; `postgres://…` if it cannot be parsed. */
export function describeDatabase(address: string): string {
  if (!address.startsWith('postgres')) return address;
  try {
    const { host, pathname } = new URL(address);
    return `postgres://${host}${pathname}`;
  } catch {
    return 'postgres://…';
  }
}
