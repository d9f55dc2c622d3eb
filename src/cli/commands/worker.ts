import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { omitUndefined, getErrorMessage } from '../../base/index.js';
import { labelsSchema, type Labels } from '../../store/records/index.js';
import {
  describeDatabase,
  readWorkerSettings,
  CONTEXT_OPTIONS,
  withService,
  type CommandContext,
  createServiceLogger,
} from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { defineCommand, type FlagsOf } from '../command.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { waitForInterruption, withInterruption } from '../interruption.js';
import { parseCount } from '../run-flags.js';
import { prepareMaintenance } from './serve.js';
import { prepareDataFolder, readSmallFile, VERSION } from '../../base/files/index.js';
import type { RemotePorts } from '../../server/worker/index.js';
import type { Worker } from '../../orders/dispatch/index.js';
import { createKnownSecrets, loadCommandConfig, openCommandTracing } from '../command-config.js';

/** Maximum number of database connections unless configured: statements are short, and there can be many workers. */
const WORKER_POOL = 2;

const REMOTE_OPTIONS = ['tokenFile', 'ca', 'run', 'agentSocket'] as const;

const WORKER_OPTIONS = {
  ...CONTEXT_OPTIONS,
  '--concurrency <n>': ['how many runs to execute concurrently (default: 4)', parseCount],
  '--type <names...>': 'process only orders for wrappers of these types',
  '--label <name=value>': ['also process runs that need this label; repeat for others', parseLabel],
  '--kinds <what>': ['process only orders, or only runs', ['orders', 'runs']],
  '--grace <seconds>': ['time for active work to finish after Ctrl-C (default: no limit)', parseCount],
  '--server <url>': 'work for this server instead of a database; https, or http on this host',
  '--token-file <file>': 'file with the token for the server (default: SLUICE_WORKER_TOKEN)',
  '--ca <file>': "certificates of the server's private authority (PEM)",
  '--run <id>': 'execute this run and exit; the token must have been created for it',
  '--agent-socket <path>': ["socket of the agent's container in a pod", { isHidden: true }],
} as const;

type WorkerFlags = FlagsOf<typeof WORKER_OPTIONS>;

export const addWorkerCommand = defineCommand('worker', {
  summary: 'process queued orders and runs',
  options: WORKER_OPTIONS,
  notes: 'The log goes to stderr as JSON lines. Ctrl-C lets active work finish.',
  async run(flags, io) {
    const { server } = flags;
    if (server === undefined) {
      const other = REMOTE_OPTIONS.find((name) => flags[name] !== undefined);
      if (other !== undefined)
        throw new MisuseError(
          `--${other.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} needs --server. Add --server URL, or omit it.`,
        );
      return withService(flags, io, async (context, signal) => work(context, flags, signal), { pool: WORKER_POOL });
    }
    if (flags.database !== undefined)
      throw new MisuseError('Use either --server or --database: a worker has one source of work.');
    return workForServer({ ...flags, server }, io);
  },
});

/** Adds a label to those of the options before it. */
function parseLabel(option: string, earlier: Labels = {}): Labels {
  const [name = '', value = '', ...more] = option.split('=');
  const pattern = new RegExp(labelsSchema.propertyNames.pattern);
  const labels = { ...earlier, [name]: value };
  if (more.length > 0 || !pattern.test(name) || !pattern.test(value)) {
    throw new InvalidArgumentError('Use NAME=VALUE; letters, digits and "._/-", each at most 63 characters.');
  }
  if (Object.keys(labels).length <= labelsSchema.maxProperties) return labels;
  throw new InvalidArgumentError(`A worker has at most ${labelsSchema.maxProperties} labels.`);
}

async function work(context: CommandContext, flags: WorkerFlags, signal: AbortSignal): Promise<ExitCode> {
  const { startWorker, startMaintenance } = await import('../../orders/dispatch/index.js');
  const { config, store, lead, logger } = context;
  // Prepared before anything is claimed, so invalid settings are reported first.
  const upkeep = await prepareMaintenance(context);
  const worker = startWorker({
    store,
    lead,
    sessions: upkeep.archive?.sessions,
    ...readWorkerSettings(context),
    ...readSelection(flags),
  });
  // Run folders are deleted on the host that has them.
  const maintenance = startMaintenance({ ...upkeep, lead });
  await serveUntilInterrupted(worker, { database: describeDatabase(config.database) }, { flags, signal, logger });
  // Stopped last: it copies run folders to the archive while their runs finish.
  await maintenance.stop();
  logger.info('worker stopped', { worker_id: worker.id });
  return EXIT.success;
}

const TOKEN_VARIABLE = 'SLUICE_WORKER_TOKEN';
const MAX_TOKEN_BYTES = 4096;

/** Executes runs for a server, without a database, until it is interrupted; with `--run`, one run. */
export async function workForServer(
  flags: WorkerFlags & { readonly server: string },
  io: CommandIo,
): Promise<ExitCode> {
  const [{ connect, openRemotePorts }, { readGitFilters }, { listLaunchers }] = await Promise.all([
    import('../../server/worker/index.js'),
    import('../../orders/index.js'),
    import('../../runs/index.js'),
  ]);
  const { token, warning } = await readToken(flags.tokenFile);
  const ca = flags.ca === undefined ? undefined : await readAuthority(flags.ca);
  const connection = connect({ url: flags.server, token, ca });
  const config = await loadCommandConfig(flags, io);
  const knownSecrets = createKnownSecrets(config);
  knownSecrets.add([token]);
  const logger = createServiceLogger(config, knownSecrets, io);
  if (warning !== undefined) logger.warn(warning);
  await prepareDataFolder(config.data);
  const filters = await readGitFilters(config.git?.filters ?? []);
  return withInterruption(async (signal) => {
    const tracing = await openCommandTracing(config, { logger, io });
    const sidecar = flags.agentSocket === undefined ? undefined : await joinAgent(flags.agentSocket);
    const { agents: ownAgents = {}, data } = config;
    const self = { host: hostname(), version: VERSION, engines: Object.keys(listLaunchers(ownAgents)) };
    const remote = await openRemotePorts({ connection, data, filters, token, logger }, self);
    try {
      const { settings } = remote;
      // What belongs to this host comes from its own configuration, what decides about work from the server.
      const own = readWorkerSettings({ config, logger, tracing });
      const ownToken = token.replaceAll(/[^\w]/gu, '\\$&');
      const patterns = [...settings.secretPatterns, ...(config.secrets?.patterns ?? []), ownToken];
      const runs = {
        ...own.runs,
        ...(sidecar === undefined ? {} : { sandbox: { ...own.runs.sandbox, sidecar: sidecar.socket } }),
        agents: { ...settings.agents, ...ownAgents },
        approvals: settings.approvals,
        secrets: { patterns },
      };
      const options = { ...remote, runs, leaseMs: settings.leaseMs, logger };
      if (flags.run === undefined) await workUntilStopped(options, { flags, signal });
      else await executeOne(options, flags.run, { graceS: flags.grace, signal });
      return EXIT.success;
    } finally {
      remote.close();
      sidecar?.close();
      await tracing?.flush();
    }
  });
}

/**
 * Connects to the container of the agent, which exits with this process. This process exits with it too: only the
 * cluster knows why it ended, such as for its memory, and the server learns that when the pod has ended.
 */
async function joinAgent(socket: string) {
  const { joinSidecar } = await import('../../runs/sandbox/index.js');
  const { lost, close } = await joinSidecar(socket);
  void lost.then(() => process.exit(EXIT.broken));
  return { socket, close };
}

type Options = Omit<RemotePorts, 'settings' | 'close'> & {
  readonly runs: ReturnType<typeof readWorkerSettings>['runs'];
  readonly leaseMs: number;
  readonly logger: ReturnType<typeof createServiceLogger>;
};

async function workUntilStopped(
  options: Options,
  { flags, signal }: { readonly flags: WorkerFlags; readonly signal: AbortSignal },
): Promise<void> {
  const { claimRuns, startHostDuties } = await import('../../orders/dispatch/index.js');
  const { logger, listExpired, reportLost, findOwnRun: findRun, store, runs } = options;
  const host = { store: { findRun, findRepositoryStart: store.findRepositoryStart }, runs, listExpired, reportLost };
  const worker = claimRuns({
    ...options,
    startDuties: (context) => startHostDuties(host, context),
    ...readSelection(flags),
  });
  await serveUntilInterrupted(worker, { server: flags.server }, { flags, signal, logger });
  logger.info('worker stopped', { worker_id: worker.id });
}

/** Reads which runs the worker takes, and how many at once. */
function readSelection({ concurrency, type: workerTypes, label: labels, kinds }: WorkerFlags) {
  return omitUndefined({ concurrency, workerTypes, labels, kinds: kinds === undefined ? undefined : [kinds] });
}

/** Lets the worker work until the command is interrupted, and then finish its active work. */
async function serveUntilInterrupted(
  worker: Worker,
  source: object,
  { flags, signal, logger }: Pick<Options, 'logger'> & { readonly flags: WorkerFlags; readonly signal: AbortSignal },
): Promise<void> {
  logger.info('worker started', { worker_id: worker.id, ...source });
  await waitForInterruption(signal);
  logger.info('worker shutting down', { worker_id: worker.id, busy: worker.busy });
  await worker.stop(flags.grace === undefined ? {} : { graceMs: flags.grace * 1000 });
}

/** Executes the run that the token was created for. After an interruption it has the grace period to end. */
async function executeOne(
  options: Options,
  runId: string,
  { graceS, signal }: { readonly graceS: number | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { executeClaim } = await import('../../orders/dispatch/index.js');
  const claimed = await options.claimPlaced(runId);
  const outOfTime = new AbortController();
  signal.addEventListener('abort', () => {
    if (graceS !== undefined) setTimeout(() => outOfTime.abort(), graceS * 1000).unref();
  });
  await executeClaim(options, claimed, { workerId: '', signal: outOfTime.signal });
}

/**
 * Reads the token from a file or from the environment, and removes it from the environment: everything that this process
 * starts runs as the same user and could read it there.
 */
async function readToken(file: string | undefined): Promise<{ readonly token: string; readonly warning?: string }> {
  const variable = process.env[TOKEN_VARIABLE];
  const isHidden = variable === undefined || forgetVariable(TOKEN_VARIABLE);
  const token = (file === undefined ? variable : await readTokenFile(file))?.trim() ?? '';
  if (token === '') {
    const where = file === undefined ? `Set ${TOKEN_VARIABLE}, or use --token-file.` : `The file "${file}" is empty.`;
    throw new MisuseError(`A token with the scope "worker" is required. ${where}`);
  }
  const warning = `${TOKEN_VARIABLE} cannot be erased from this process's environment, where agents without a sandbox can read it. Use --token-file.`;
  return isHidden ? { token } : { token, warning };
}

async function readTokenFile(file: string): Promise<string> {
  try {
    // A pipe has no size, so it is read like a stream.
    if (/^\/dev\/(?:stdin|fd\/\d+)$/.test(file)) return await readFile(file, 'utf8');
    const text = await readSmallFile(file, MAX_TOKEN_BYTES);
    if (text === undefined) throw new Error('no such file');
    return text;
  } catch (error) {
    throw new MisuseError(`Cannot read the token file "${file}": ${getErrorMessage(error)}. Check the path.`, {
      cause: error,
    });
  }
}

async function readAuthority(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new MisuseError(`Cannot read the certificates "${file}": ${getErrorMessage(error)}. Check the path.`);
  });
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  // TLS would ignore a damaged one, and then report an unknown authority.
  if (certificates.length > 0 && certificates.every(isCertificate)) return text;
  const problem = certificates.length === 0 ? 'no certificate in PEM format' : 'a damaged certificate';
  throw new MisuseError(
    `The file "${file}" contains ${problem}. Pass the file of the authority that signed the server's certificate.`,
  );
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/**
 * Removes an environment variable from this process and from `/proc/<pid>/environ`, which shows every process of the
 * same user the environment that a process was started with. Returns false if it is still visible there.
 */
function forgetVariable(name: string): boolean {
  Reflect.deleteProperty(process.env, name);
  if (process.platform !== 'linux') return true;
  try {
    return eraseFromMemory(`${name}=`);
  } catch {
    return false;
  }
}

/** The positions of the environment in `/proc/self/stat`, counted from the state, which follows the program's name. */
const ENVIRONMENT_START = 47;
const ENVIRONMENT_END = 48;

/** Overwrites a variable in the memory that `/proc/<pid>/environ` shows. Nothing else uses it once it is unset. */
function eraseFromMemory(prefix: string): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENVIRONMENT_START]), Number(fields[ENVIRONMENT_END])];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || end <= start) return false;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const environment = Buffer.alloc(end - start);
    readSync(memory, environment, 0, environment.length, start);
    for (let at = 0; at < environment.length;) {
      const close = environment.indexOf(0, at);
      const next = close === -1 ? environment.length : close;
      if (environment.subarray(at, next).toString('latin1').startsWith(prefix)) {
        writeSync(memory, Buffer.alloc(next - at), 0, next - at, start + at);
      }
      at = next + 1;
    }
  } finally {
    closeSync(memory);
  }
  return !readFileSync('/proc/self/environ').includes(prefix);
}
