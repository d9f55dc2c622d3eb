import { omitUndefined } from '../../base/index.js';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { describeDatabase } from '../describe-database.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { House, HouseFlags } from '../house.js';
import { listenForInterruption, untilInterrupted } from '../interruption.js';
import type { Interruption } from '../interruption.js';
import { loadLogger } from '../load-logger.js';
import { workerSettings } from '../worker-settings.js';

interface WorkerFlags extends HouseFlags {
  readonly concurrency?: number;
  readonly type?: readonly string[];
  readonly takes?: 'orders' | 'runs';
  readonly grace?: number;
}

/** Adds `sluice worker` to the program. */
export function addWorkerCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('worker'))
    .description('one more pair of hands: takes orders and runs from the database and does them')
    .addOption(new Option('--concurrency <n>', 'how many at once; 4 by default').argParser(parseCount))
    .option('--type <names...>', 'only orders of these worker types')
    .addOption(new Option('--takes <what>', 'only orders, or only runs').choices(['orders', 'runs']))
    .addOption(new Option('--grace <seconds>', 'after Ctrl-C, stop what takes longer than this').argParser(parseCount))
    .addHelpText('after', '\nWhat it does is told on stderr, a line of JSON each. Ctrl-C lets it finish what it holds.')
    .action(async (flags: WorkerFlags) => {
      end(await runWorker(flags, io));
    });
}

async function runWorker(flags: WorkerFlags, io: CommandIo): Promise<ExitCode> {
  const interruption = listenForInterruption();
  try {
    const createLogger = await loadLogger(io);
    return await inHouse(flags, async (house) => workInHouse(house, flags, interruption), { createLogger });
  } finally {
    interruption.stopListening();
  }
}

async function workInHouse(house: House, flags: WorkerFlags, interruption: Interruption): Promise<ExitCode> {
  const [{ startWorker }, { startRetention }, { readRetention }] = await Promise.all([
    import('../../dispatch/index.js'),
    import('../../dispatch/index.js'),
    import('../../config/index.js'),
  ]);
  const { config, store, lead, logger } = house;
  const worker = startWorker({
    store,
    lead,
    ...workerSettings(house),
    ...omitUndefined({
      concurrency: flags.concurrency,
      workerTypes: flags.type,
      takes: flags.takes === undefined ? undefined : [flags.takes],
    }),
  });
  // Run folders are forgotten where they are.
  const retention = startRetention({ store, data: config.data, logger, settings: readRetention(config) });
  logger.info('worker started', { worker_id: worker.id, database: describeDatabase(config.database) });
  await untilInterrupted(interruption);
  logger.info('worker ends', { worker_id: worker.id, busy: worker.busy });
  await retention.stop();
  await worker.stop(omitUndefined({ graceMs: flags.grace === undefined ? undefined : flags.grace * 1000 }));
  logger.info('worker stopped', { worker_id: worker.id });
  return EXIT.success;
}

function parseCount(word: string): number {
  if (!/^[1-9]\d{0,3}$/.test(word)) throw new InvalidArgumentError('Give a whole number from 1 to 9999.');
  return Number(word);
}
