import type { PlanEntry } from '../protocol/event-parts.js';
import { booleanField, isRecord, stringField } from './record-fields.js';

/** Maximum number of entries kept of a plan; people do not read more. */
const MAX_ENTRIES = 256;

/**
 * The entries of a plan, in the words of any of the programs. One without a text is left out; a status that is not known
 * counts as pending.
 *
 * @example
 * readPlan([{ content: 'Look', status: 'done' }]) // [{ content: 'Look', status: 'completed' }]
 */
export function readPlan(entries: readonly unknown[]): readonly PlanEntry[] {
  return entries
    .slice(0, MAX_ENTRIES)
    .filter(isRecord)
    .flatMap((entry) => {
      const content = stringField(entry, 'content') ?? stringField(entry, 'text') ?? stringField(entry, 'description');
      if (content === null) return [];
      const priority = PRIORITIES.find((name) => name === stringField(entry, 'priority'));
      return [{ content, status: readStatus(entry), ...(priority === undefined ? undefined : { priority }) }];
    });
}

const PRIORITIES = ['high', 'medium', 'low'] as const;

function readStatus(entry: object): PlanEntry['status'] {
  const status = stringField(entry, 'status');
  if (status === 'completed' || status === 'done' || booleanField(entry, 'completed') === true) return 'completed';
  return status === 'in_progress' ? 'in_progress' : 'pending';
}
