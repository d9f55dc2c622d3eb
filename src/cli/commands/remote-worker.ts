import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { getErrorMessage, omitUndefined } from '../../base/index.js';
import { prepareDataFolder, readSmallFile, VERSION } from '../../base/files/index.js';
import type { ConfigFlags } from '../../server/config/index.js';
import type { RemotePorts } from '../../server/worker/index.js';
import type { Labels } from '../../store/records/index.js';
import { createKnownSecrets, loadCommandConfig, openCommandTracing } from '../command-config.js';
import { createServiceLogger, readWorkerSettings } from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { waitForInterruption, withInterruption } from '../interruption.js';
import { forgetVariable } from '../forget-variable.js';

/** The flags of `sluice worker` besides the configuration. */
export interface RemoteFlags {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly agentSocket?: string;
  readonly run?: string;
  readonly concurrency?: number;
  readonly type?: readonly string[];
  readonly label?: Labels;
  readonly kinds?: 'orders' | 'runs';
  readonly grace?: number;
}

const TOKEN_VARIABLE = 'SLUICE_WORKER_TOKEN';
const MAX_TOKEN_BYTES = 4096;

/** Executes runs for a server, without a database, until it is interrupted; with `--run`, one run. */
export async function workForServer(
  flags: ConfigFlags & RemoteFlags & { readonly server: string },
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
      const patterns = [...settings.secretPatterns, ...(config.secrets?.patterns ?? []), escapePattern(token)];
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
  { flags, signal }: { readonly flags: RemoteFlags; readonly signal: AbortSignal },
): Promise<void> {
  const { claimRuns, startHostDuties } = await import('../../orders/dispatch/index.js');
  const { logger, listExpired, reportLost, findOwnRun: findRun, store, runs } = options;
  const host = { store: { findRun, findRepositoryStart: store.findRepositoryStart }, runs, listExpired, reportLost };
  const worker = claimRuns({
    ...options,
    startDuties: (context) => startHostDuties(host, context),
    ...omitUndefined({
      concurrency: flags.concurrency,
      workerTypes: flags.type,
      labels: flags.label,
      kinds: flags.kinds === undefined ? undefined : [flags.kinds],
    }),
  });
  logger.info('worker started', { worker_id: worker.id, server: flags.server });
  await waitForInterruption(signal);
  logger.info('worker shutting down', { worker_id: worker.id, busy: worker.busy });
  await worker.stop(omitUndefined({ graceMs: flags.grace === undefined ? undefined : flags.grace * 1000 }));
  logger.info('worker stopped', { worker_id: worker.id });
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
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new MisuseError(
    `The file "${file}" contains no certificate in PEM format. Pass the file of the authority that signed the server's certificate.`,
  );
}

function escapePattern(text: string): string {
  return text.replaceAll(/[^\w]/gu, '\\$&');
}
