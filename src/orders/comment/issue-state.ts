import type { Decision, IssueState, Resolution } from '../../records/index.js';

/**
 * Returns the issue state after a decision, or undefined if it does not change. Never `done`: only a human sets that.
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
 * Returns the issue state after a human decision.
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
