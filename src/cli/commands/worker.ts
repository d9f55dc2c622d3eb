import { omitUndefined } from '../../base/index.js';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { parseCount } from '../parse-count.js';
import { EXIT, type ExitCode } from '../failure.js';
import {
  describeDatabase,
  withContext,
  withContextOptions,
  listJobs,
  loadLogger,
  readWorkerSettings,
} from '../command-context.js';
import type { CommandContext, ContextFlags } from '../command-context.js';
import { listenForInterruption, waitForInterruption } from '../interruption.js';
import type { Interruption } from '../interruption.js';

interface WorkerFlags extends ContextFlags {
  readonly concurrency?: number;
  readonly type?: readonly string[];
  readonly kinds?: 'orders' | 'runs';
  readonly grace?: number;
}

/** Maximum number of database connections unless configured: statements are short, and there can be many workers. */
const WORKER_POOL = 2;

export function addWorkerCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('worker'))
    .description('process queued orders and runs')
    .addOption(
      new Option('--concurrency <n>', 'how many runs to execute concurrently (default: 4)').argParser(parseCount),
    )
    .option('--type <names...>', 'process only orders for wrappers of these types')
    .addOption(new Option('--kinds <what>', 'process only orders, or only runs').choices(['orders', 'runs']))
    .addOption(
      new Option('--grace <seconds>', 'time for active work to finish after Ctrl-C (default: no limit)').argParser(
        parseCount,
      ),
    )
    .addHelpText('after', '\nThe log goes to stderr as JSON lines. Ctrl-C lets active work finish.')
    .action(async (flags: WorkerFlags) => {
      end(await runWorker(flags, io));
    });
}

async function runWorker(flags: WorkerFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    const createLogger = await loadLogger(io);
    return await withContext(flags, io, async (context) => work(context, flags, interruption), {
      createLogger,
      pool: WORKER_POOL,
    });
  } finally {
    interruption.stopListening();
  }
}

async function work(context: CommandContext, flags: WorkerFlags, interruption: Interruption): Promise<ExitCode> {
  const [{ startWorker, startMaintenance }, { createArchive, readPacking, readRetention }] = await Promise.all([
    import('../../orders/dispatch/index.js'),
    import('../../server/config/index.js'),
  ]);
  const { config, store, lead, logger } = context;
  // Loaded before anything is claimed, so invalid settings are reported first.
  const archive = await createArchive(config, process.env);
  const jobs = await listJobs(context);
  const worker = startWorker({
    store,
    lead,
    ...readWorkerSettings(context),
    ...omitUndefined({
      concurrency: flags.concurrency,
      workerTypes: flags.type,
      kinds: flags.kinds === undefined ? undefined : [flags.kinds],
    }),
  });
  // Run folders are deleted on the host that has them.
  const maintenance = startMaintenance({
    store,
    data: config.data,
    logger,
    settings: readRetention(config),
    packing: readPacking(config),
    archive,
    repos: lead.repos,
    lead,
    jobs,
  });
  logger.info('worker started', { worker_id: worker.id, database: describeDatabase(config.database) });
  await waitForInterruption(interruption);
  logger.info('worker shutting down', { worker_id: worker.id, busy: worker.busy });
  await worker.stop(omitUndefined({ graceMs: flags.grace === undefined ? undefined : flags.grace * 1000 }));
  // Stopped last: it copies run folders to the archive while their runs finish.
  await maintenance.stop();
  logger.info('worker stopped', { worker_id: worker.id });
  return EXIT.success;
}
