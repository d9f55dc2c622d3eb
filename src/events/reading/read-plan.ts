import type { PlanEntry } from '../protocol/event-parts.js';
import { get, isRecord } from './record-fields.js';

/** The maximum number of plan entries; users do not read more. */
const MAX_ENTRIES = 256;

/** Reads plan entries in any engine's format. Entries without text are skipped; an unknown status counts as pending. */
export function readPlan(entries: readonly unknown[]): readonly PlanEntry[] {
  return entries
    .slice(0, MAX_ENTRIES)
    .filter(isRecord)
    .flatMap((entry) => {
      const content = get.string(entry, 'content') ?? get.string(entry, 'text') ?? get.string(entry, 'description');
      if (content === null) return [];
      const priority = PRIORITIES.find((name) => name === get.string(entry, 'priority'));
      return [{ content, status: readStatus(entry), ...(priority === undefined ? undefined : { priority }) }];
    });
}

const PRIORITIES = ['high', 'medium', 'low'] as const;

function readStatus(entry: object): PlanEntry['status'] {
  const status = get.string(entry, 'status');
  if (status === 'completed' || status === 'done' || get.boolean(entry, 'completed') === true) return 'completed';
  return status === 'in_progress' ? 'in_progress' : 'pending';
}
