import type { FsDiff } from '../../events/index.js';

/** No changes. */
export const NO_CHANGES: FsDiff = { created: [], modified: [], deleted: [] };

/**
 * Merges the changes of two consecutive attempts: a file created and then modified counts as created, a file created
 * and then deleted is omitted, and a file deleted and then recreated counts as modified.
 *
 * @example
 * mergeFsDiffs({ created: ['a'], modified: [], deleted: [] }, { created: [], modified: ['a'], deleted: [] }) // created: ['a']
 */
export function mergeFsDiffs(first: FsDiff, second: FsDiff): FsDiff {
  const changes = new Map<string, keyof FsDiff>();
  for (const change of CHANGES) for (const path of first[change]) changes.set(path, change);
  for (const change of CHANGES) {
    for (const path of second[change]) {
      const merged = combineChanges(changes.get(path), change);
      if (merged === undefined) changes.delete(path);
      else changes.set(path, merged);
    }
  }
  const listPaths = (change: keyof FsDiff): string[] =>
    [...changes].flatMap(([path, last]) => (last === change ? [path] : [])).toSorted();
  return { created: listPaths('created'), modified: listPaths('modified'), deleted: listPaths('deleted') };
}

const CHANGES = ['created', 'modified', 'deleted'] as const;

function combineChanges(before: keyof FsDiff | undefined, now: keyof FsDiff): keyof FsDiff | undefined {
  if (before === 'created') return now === 'deleted' ? undefined : 'created';
  if (before === 'deleted' && now === 'created') return 'modified';
  return now;
}

export function hasChanges({ created, modified, deleted }: FsDiff): boolean {
  return created.length + modified.length + deleted.length > 0;
}
