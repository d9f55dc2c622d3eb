import { name, object, orNull, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/**
 * Why a queued run does not start. `folder`: its folder is in use by that run, or (null) by a process outside the store.
 * `budget`: that budget is used up.
 */
export const waitingForSchema = {
  anyOf: [
    object({ reason: { const: 'folder' }, run: orNull(name) }),
    object({
      reason: { const: 'budget' },
      budget: { ...name, description: 'The budget that is used up: `day`, or `caller` and the name of a token.' },
      opens_at: {
        ...timestamp,
        description: 'When the budget is reset. The run starts sooner if active runs release enough of it.',
      },
    }),
  ],
} as const;

/** See {@link waitingForSchema}. */
export type WaitingFor = FromSchema<typeof waitingForSchema>;

/**
 * Describes what a queued run waits for.
 *
 * @example
 * describeWaitingFor({ reason: 'budget', budget: 'day', opens_at: '2026-11-16T00:00:00.000Z' }) // 'the budget of the day, …'
 */
export function describeWaitingFor(waiting: WaitingFor): string {
  if (waiting.reason === 'folder') {
    return `its folder, in use by ${waiting.run === null ? 'another process' : `run ${waiting.run}`}`;
  }
  const caller = /^caller (?<name>.*)$/su.exec(waiting.budget)?.groups?.['name'];
  const owner = caller === undefined ? `the ${waiting.budget}` : `token "${caller}"`;
  return `the budget of ${owner}, which is reset at ${waiting.opens_at}`;
}
