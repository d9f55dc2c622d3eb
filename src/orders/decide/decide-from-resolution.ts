import { showLine } from '../plain-text.js';
import type { Decision, Resolution } from '../../records/index.js';

/**
 * Turns a human choice into a decision. A retry archives the old run's result; the new run is decided separately.
 *
 * @example
 * decideFromResolution({ action: 'reject', who: 'Ada', why: 'wrong branch' }).action // 'blocked'
 */
export function decideFromResolution({ action, who, why }: Pick<Resolution, 'action' | 'who' | 'why'>): Decision {
  const name = showLine(who, 100);
  const explanation = `: ${showLine(why, 500)}`;
  switch (action) {
    case 'accept':
      return {
        action: 'advance',
        result_code: 'none',
        reason: `${name} accepted the result${explanation}`,
        next: 'Review the change.',
      };
    case 'edit':
      return {
        action: 'advance',
        result_code: 'none',
        reason: `${name} corrected the result and accepted it${explanation}`,
        next: 'Review the change.',
      };
    case 'reject':
      return {
        action: 'blocked',
        result_code: 'manual_intervention',
        reason: `${name} rejected the result${explanation}`,
        next: 'Change the order and submit it again.',
      };
    case 'retry':
      return {
        action: 'archive',
        result_code: 'manual_intervention',
        reason: `${name} retried the order${explanation}`,
        next: 'Wait for the new run.',
      };
  }
}
