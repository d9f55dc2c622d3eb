import type { LeadContext } from './lead-context.js';

/** Whoever has the sink takes a message within seconds; after this nobody seems to have it. */
const PATIENCE_MS = 60_000;
/** How often it is looked for them. */
const LOOK_MS = 30_000;
const AT_ONCE = 1000;

const REASON =
  'The sink of this name is not configured where Sluice runs; the comment waits. Configure it, or run a worker that has it.';

/**
 * Makes a function that looks for comments which wait for a sink that this lead does not have, now and then: they get
 * the reason, and each sink is told once in the log. Without that a sink that was renamed would keep them silently.
 */
export function createStrandedTeller(
  context: Pick<LeadContext, 'store' | 'sinks' | 'clock' | 'logger'>,
): () => Promise<void> {
  const { store, clock, logger } = context;
  const sinks = context.sinks.map(({ name }) => name);
  const told = new Set<string>();
  let lookAt = -Infinity;
  return async () => {
    const now = clock();
    if (now < lookAt) return;
    lookAt = now + LOOK_MS;
    const wanted = { sinks, dueBefore: now - PATIENCE_MS, error: REASON, limit: AT_ONCE };
    for (const sink of await store.noteStranded(wanted)) {
      if (!told.has(sink)) logger.warn('comments wait for a sink that is not configured here', { sink });
      told.add(sink);
    }
  };
}
