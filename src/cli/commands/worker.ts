import { InvalidArgumentError, Option, type Command } from 'commander';
import { omitUndefined } from '../../base/index.js';
import type { ConfigFlags } from '../../server/config/index.js';
import { labelsSchema, type Labels } from '../../store/records/index.js';
import {
  describeDatabase,
  readWorkerSettings,
  withContextOptions,
  withService,
  type CommandContext,
} from '../command-context.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { waitForInterruption } from '../interruption.js';
import { parseCount } from '../run-flags.js';
import type { RemoteFlags } from './remote-worker.js';
import { prepareMaintenance } from './serve.js';

type WorkerFlags = ConfigFlags & RemoteFlags;

/** Maximum number of database connections unless configured: statements are short, and there can be many workers. */
const WORKER_POOL = 2;

const REMOTE_OPTIONS = ['tokenFile', 'ca', 'run', 'agentSocket'] as const;

export function addWorkerCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('worker'))
    .description('process queued orders and runs')
    .addOption(
      new Option('--concurrency <n>', 'how many runs to execute concurrently (default: 4)').argParser(parseCount),
    )
    .option('--type <names...>', 'process only orders for wrappers of these types')
    .addOption(
      new Option('--label <name=value>', 'also process runs that need this label; repeat for others').argParser(
        parseLabel,
      ),
    )
    .addOption(new Option('--kinds <what>', 'process only orders, or only runs').choices(['orders', 'runs']))
    .addOption(
      new Option('--grace <seconds>', 'time for active work to finish after Ctrl-C (default: no limit)').argParser(
        parseCount,
      ),
    )
    .option('--server <url>', 'work for this server instead of a database; https, or http on this host')
    .option('--token-file <file>', 'file with the token for the server (default: SLUICE_WORKER_TOKEN)')
    .option('--ca <file>', "certificates of the server's private authority (PEM)")
    .option('--run <id>', 'execute this run and exit; the token must have been created for it')
    .addOption(new Option('--agent-socket <path>', "socket of the agent's container in a pod").hideHelp())
    .addHelpText('after', '\nThe log goes to stderr as JSON lines. Ctrl-C lets active work finish.')
    .action(async (flags: WorkerFlags) => end(await runWorker(flags, io)));
}

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

async function runWorker(flags: WorkerFlags, io: CommandIo): Promise<ExitCode> {
  if (flags.server === undefined) {
    const other = REMOTE_OPTIONS.find((name) => flags[name] !== undefined);
    if (other !== undefined)
      throw new MisuseError(
        `--${other.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} needs --server. Add --server URL, or omit it.`,
      );
    return withService(flags, io, async (context, signal) => work(context, flags, signal), { pool: WORKER_POOL });
  }
  if (flags.database !== undefined)
    throw new MisuseError('Use either --server or --database: a worker has one source of work.');
  const { workForServer } = await import('./remote-worker.js');
  return workForServer({ ...flags, server: flags.server }, io);
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
    ...omitUndefined({
      concurrency: flags.concurrency,
      workerTypes: flags.type,
      labels: flags.label,
      kinds: flags.kinds === undefined ? undefined : [flags.kinds],
    }),
  });
  // Run folders are deleted on the host that has them.
  const maintenance = startMaintenance({ ...upkeep, lead });
  logger.info('worker started', { worker_id: worker.id, database: describeDatabase(config.database) });
  await waitForInterruption(signal);
  logger.info('worker shutting down', { worker_id: worker.id, busy: worker.busy });
  await worker.stop(omitUndefined({ graceMs: flags.grace === undefined ? undefined : flags.grace * 1000 }));
  // Stopped last: it copies run folders to the archive while their runs finish.
  await maintenance.stop();
  logger.info('worker stopped', { worker_id: worker.id });
  return EXIT.success;
}
