import { isNoneLike } from '../evidence/missing-evidence.js';
import { invalidValue } from '../shapes/check-shape.js';
import type { Problem, WorkResult } from '../../records/index.js';
import { isFields, readResultFields } from './result-fields.js';

/** What a worker says it changed, and what is wrong with how it says it. */
export interface ChangesFound {
  readonly changes: WorkResult['changes'];
  readonly problems: readonly Problem[];
}

// Four digits are the fewest that git takes.
const COMMIT = /^(?:git:)?([0-9a-f]{4,64})$/i;
// An address, or something with a number in it: #12, !12, acme/shop#12, PR-12.
const PULL_REQUEST = /^(?:https?:\/\/[^\s/]\S*|[^\s\d]*\d\S*)$/;

/** Reads `{ PR, Commit }`; values like `none` say that there is none. */
export function readChanges(value: unknown): ChangesFound {
  if (value === undefined || value === null) return { changes: {}, problems: [] };
  if (typeof value === 'string' && isNoneLike(value)) return { changes: {}, problems: [] };
  if (!isFields(value)) return { changes: {}, problems: [invalidValue('changes', 'it must hold PR or Commit')] };
  const { known, conflicts } = readResultFields(Object.entries(value), ['pr', 'commit']);
  const problems: Problem[] = conflicts.map((conflict) => ({ ...conflict, path: `changes.${conflict.path}` }));
  const pr = wordOf(known.get('pr'));
  const commit = wordOf(known.get('commit'));
  const hash = commit === undefined ? undefined : COMMIT.exec(commit)?.[1]?.toLowerCase();
  if (pr !== undefined && (pr.length > 2000 || !PULL_REQUEST.test(pr))) {
    problems.push(invalidValue('changes.pr', 'it must be the address or the number of a pull request'));
  }
  if (commit !== undefined && hash === undefined) {
    problems.push(invalidValue('changes.commit', 'it must be the hash of a commit, at least 4 digits of it'));
  }
  return {
    changes: { ...(pr === undefined ? {} : { pr }), ...(hash === undefined ? {} : { commit: hash }) },
    problems,
  };
}

/** The value as one word; undefined where it says that there is none. Anything but text stays visibly wrong. */
function wordOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value);
  if (typeof value !== 'string') return '?';
  return isNoneLike(value) ? undefined : value.trim();
}
