import { name, object, orNull, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/**
 * Why a queued run cannot start. `folder`: its folder is in use by another run, or (null) by a process outside the
 * store. `budget`: the budget is used up.
 */
export const waitingForSchema = {
  anyOf: [
    object({ reason: { const: 'folder' }, run: orNull(name) }),
    object({
      reason: { const: 'budget' },
      budget: { ...name, description: 'The budget that is used up: `day`, or `caller` and a token name.' },
      opens_at: {
        ...timestamp,
        description: 'When the budget is reset. The run starts earlier if active runs release enough of it.',
      },
    }),
  ],
} as const;

/** See {@link waitingForSchema}. */
export type WaitingFor = FromSchema<typeof waitingForSchema>;

/**
 * Describes what a queued run is waiting for.
 *
 * @example
 * describeWaitingFor({ reason: 'budget', budget: 'day', opens_at: '2026-11-16T00:00:00.000Z' }) // 'the daily budget, …'
 */
export function describeWaitingFor(waiting: WaitingFor): string {
  if (waiting.reason === 'folder') {
    return `its folder, in use by ${waiting.run === null ? 'another process' : `run ${waiting.run}`}`;
  }
  const caller = /^caller (?<name>.*)$/su.exec(waiting.budget)?.groups?.['name'];
  const budget = caller === undefined ? 'the daily budget' : `the budget of token "${caller}"`;
  return `${budget}, which resets at ${waiting.opens_at}`;
}
