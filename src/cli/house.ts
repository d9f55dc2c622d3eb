import type { Command } from 'commander';
import { createSinks, loadConfig } from '../config/index.js';
import type { Config } from '../config/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import { silentLogger, omitUndefined } from '../base/index.js';
import type { Logger } from '../base/index.js';
import type { Store } from '../store/index.js';

/** Where a command finds its orders. */
export interface HouseFlags {
  readonly data?: string;
  readonly database?: string;
  readonly config?: string;
}

/** What the commands about orders work with. */
export interface House {
  readonly config: Config;
  /** The workers that orders may name. */
  readonly wrappers: Wrappers;
  readonly store: Store;
  readonly lead: Lead;
  /** Silent, unless the command brought one along. */
  readonly logger: Logger;
}

/** What a command brings into the house. */
interface Furniture {
  readonly wrappers?: Wrappers;
  readonly createLogger?: (config: Config) => Logger;
}

/** Adds the options that say where orders are kept. */
export function withHouseOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'where run folders, comments and the database are kept; by default .sluice')
    .option('--database <url>', 'sqlite:FILE or postgres://…; by default a file in the data folder')
    .option('--config <file>', 'the settings; by default sluice.config.mjs or .json here');
}

/** Opens the house for one command and closes it behind it. */
export async function inHouse<T>(
  flags: HouseFlags,
  work: (house: House) => Promise<T>,
  { wrappers: more = {}, createLogger = () => silentLogger }: Furniture = {},
): Promise<T> {
  // Loaded only here: databases and clients of forges are none of the other commands' business.
  const [{ createLead }, { openStore }, { demoWrappersIn }] = await Promise.all([
    import('../orders/index.js'),
    import('../store/index.js'),
    import('../dispatch/index.js'),
  ]);
  const config = await loadConfig({ cwd: process.cwd(), env: process.env, flags });
  // Those of the configuration come before workers of the same name that a command brings along or a demo has left.
  const wrappers: Wrappers = { ...(await demoWrappersIn(config.data)), ...more, ...config.wrappers };
  const { data, secrets, max_delivery_tries: maxTries } = config;
  const sinks = createSinks(config, process.env);
  const logger = createLogger(config);
  const store = await openStore(config.database);
  try {
    const lead = createLead({
      store,
      sinks,
      data,
      backoff: omitUndefined({ maxTries }),
      wrappers,
      logger,
      ...omitUndefined({ secrets }),
    });
    try {
      return await work({ config, wrappers, store, lead, logger });
    } finally {
      await lead.close();
    }
  } finally {
    await store.close();
  }
}
