import { omitUndefined } from '../base/index.js';
import type { House } from './house.js';

/** What a worker in this house takes from the configuration. */
export function workerSettings({ config, logger }: Pick<House, 'config' | 'logger'>) {
  const { data, programs, secrets, concurrency: concurrencyByType, lease_s: leaseS } = config;
  return {
    logger,
    runs: { data, logger, ...omitUndefined({ programs, secrets }) },
    ...omitUndefined({ concurrencyByType, leaseMs: leaseS === undefined ? undefined : leaseS * 1000 }),
  };
}
