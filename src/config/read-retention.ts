import type { RetentionSettings } from '../dispatch/index.js';
import type { Config } from './config.js';

const DAY_MS = 86_400_000;

/**
 * How long things are kept, as the configuration says in days.
 *
 * @example
 * readRetention({ retention: { runs: 30 } }) // { runsMs: 2592000000 }
 */
export function readRetention({ retention = {} }: Pick<Config, 'retention'>): RetentionSettings {
  const { runs, delivered, results } = retention;
  return { runsMs: inMs(runs), deliveredMs: inMs(delivered), resultsMs: inMs(results) };
}

function inMs(days: number | undefined): number | undefined {
  return days === undefined ? undefined : days * DAY_MS;
}
