import type { Decision, IssueState, Resolution } from '../../records/index.js';

/**
 * Where a decision puts the issue; undefined where it stays as it is. Never `done`: that is for a person to say.
 *
 * @example
 * getIssueState({ action: 'advance', reason: '…', result_code: 'none', next: '…' }) // 'review'
 */
export function getIssueState(decision: Pick<Decision, 'action'>): IssueState | undefined {
  switch (decision.action) {
    case 'advance':
      return 'review';
    case 'blocked':
      return 'blocked';
    case 'needs-human':
      return 'needs-human';
    case 'archive':
      return undefined;
  }
}

/**
 * Where a person's decision puts the issue.
 *
 * @example
 * getResolvedState('accept') // 'review'
 */
export function getResolvedState(action: Resolution['action']): IssueState {
  switch (action) {
    case 'accept':
    case 'edit':
      return 'review';
    case 'reject':
      return 'blocked';
    case 'retry':
      return 'doing';
  }
}
