import { createUlidGenerator, silentLogger } from '../../base/index.js';
import { DEFAULT_LIMITS } from '../../runs/index.js';
import { PlacementError } from '../../runs/sandbox/index.js';
import type { Placement } from '../placement/index.js';
import { createPlacer, EVERY_MS, type PlacingOptions } from './place-runs.js';
import { runByOneProcess } from './run-by-one-process.js';
import { DEFAULT_LEASE_MS } from './worker-options.js';

/**
 * Starts the duty that places runs: it claims them with a token per run, starts their places, keeps the claims
 * alive until the workers inside take them over, and ends the runs whose places are gone. For each placement, one of
 * the servers that share a store does this at a time.
 */
export function startPlacing(options: PlacingOptions): { stop(): Promise<void> } {
  const { store, placements, leaseMs = DEFAULT_LEASE_MS, everyMs = EVERY_MS, logger = silentLogger } = options;
  const placers = placements.map((placement) => createPlacer(placement, { ...options, leaseMs, logger }));
  const jobs = runByOneProcess({
    store,
    logger,
    leaseMs,
    jobs: [
      ...placers.map(({ name, sweep }) => ({ name: nameJob(name), everyMs, work: sweep })),
      {
        name: 'runs without a placement',
        everyMs: MISSING_MS,
        work: createMissingSweep({ ...options, leaseMs, logger }),
      },
    ],
  });
  return {
    async stop() {
      for (const placer of placers) placer.abort();
      await jobs.stop();
      await Promise.all(placers.map(async (placer) => placer.close()));
    },
  };
}

/** How often runs are looked for whose placement no server has. */
const MISSING_MS = 30_000;
/** The number of queued runs that are looked at. */
const MAX_QUEUED = 1000;

function nameJob(placement: string): string {
  return `placing on ${placement}`;
}

/**
 * Creates the sweep for runs whose placement no server has any more: queued ones end after `limits.wait_s`, because the
 * placement might come back, and those that were placed when their lease has expired.
 */
export function createMissingSweep(
  options: PlacingOptions & Required<Pick<PlacingOptions, 'logger'>> & { readonly leaseMs: number },
): () => Promise<void> {
  const { store, placements, leaseMs, clock = () => store.now() } = options;
  const owner = createUlidGenerator(clock)();
  const placers = new Map<string, ReturnType<typeof createPlacer>>();
  return async () => {
    const names = new Set<string>(
      (await store.listToPlace(clock(), MAX_QUEUED)).map(({ spec }) => spec.placement ?? ''),
    );
    for (const { placement } of await store.listPlaced()) names.add(placement);
    for (const { name } of placements) names.delete(name);
    for (const name of names) {
      const now = clock();
      // A server that has this job has the placement.
      const granted = await store.leaseJobs({ names: [nameJob(name)], owner, now, until: now + leaseMs });
      if (!granted.includes(nameJob(name))) continue;
      const placer =
        placers.get(name) ??
        createPlacer(createMissingPlacement(name), {
          ...options,
          isDue: ({ created_at: createdAt, spec }) =>
            clock() - Date.parse(createdAt) >= (spec.limits?.wait_s ?? DEFAULT_LIMITS.wait_s) * 1000,
        });
      placers.set(name, placer);
      await placer.sweep();
      await placer.settled();
    }
  };
}

/** A placement that is not configured: it places nothing, and knows nothing of what it has placed. */
function createMissingPlacement(name: string): Placement {
  return {
    name,
    place: async () =>
      Promise.reject(new PlacementError('unknown', `no server has the placement "${name}" in its configuration`)),
    state: async () => ({ state: 'unknown' }),
    stop: async () => undefined,
    list: async () => [],
  };
}
