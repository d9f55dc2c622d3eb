import type { RunLimits } from '../../records/index.js';

/** A run's limits, with defaults applied. */
export type ResolvedLimits = Readonly<Record<keyof RunLimits, number>>;

/**
 * A run's default limits: an hour of work, ten minutes without output, a day for a user to answer, a minute for a
 * process to wait for a permission before it is stopped, 256 MiB of output, 16 MiB per line, four million events, 1 GiB
 * in the run folder, and no limit on tokens and cost.
 */
export const DEFAULT_LIMITS: ResolvedLimits = {
  time_s: 3600,
  idle_s: 600,
  wait_s: 24 * 3600,
  hold_s: 60,
  output_bytes: 256 * 1024 * 1024,
  line_bytes: 16 * 1024 * 1024,
  events: 4_000_000,
  stored_bytes: 1024 * 1024 * 1024,
  tokens: Number.POSITIVE_INFINITY,
  cost: Number.POSITIVE_INFINITY,
};

/** Returns a spec's limits, with defaults applied. */
export function resolveLimits(limits: RunLimits = {}): ResolvedLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}
