import { refuse } from '../orders-error.js';
import { invalidValue } from '../shapes/check-shape.js';
import type { Problem, WorkOrder, WorkResult } from '../../records/index.js';
import { normalizeResult } from './normalize-result.js';
import { isFields, readResultFields } from './result-fields.js';

/**
 * Checks a result that a person entered for an order, in either spelling. Issue and run may be left out: they are the
 * order's. It must be one that can be accepted: `ok`, with evidence and explicit tests.
 *
 * @example
 * readResultValue({ status: 'ok', changes: { pr: '#7' }, tests: 'n/a', summary: 'Done by hand.' }, order)
 */
export function readResultValue(value: unknown, order: Pick<WorkOrder, 'issue_ref' | 'run_id'>): WorkResult {
  if (!isFields(value)) throw refuseResult([invalidValue('', 'must be an object')]);
  const { known, conflicts } = readResultFields(Object.entries(value));
  const named = new Map([['issue_ref', order.issue_ref], ['run_id', order.run_id], ...known]);
  const { result, problems } = normalizeResult({ known: named, conflicts });
  if (result === undefined || problems.length > 0) throw refuseResult(problems);
  if (result.status !== 'ok')
    throw refuseResult([invalidValue('status', 'only ok can be accepted; reject it instead')]);
  if (result.issue_ref !== order.issue_ref || result.run_id !== order.run_id) {
    throw refuseResult([invalidValue('run_id', `must be the result of ${order.issue_ref} ${order.run_id}`)]);
  }
  return result;
}

function refuseResult(problems: readonly Problem[]): Error {
  return refuse('INVALID_WORK_RESULT', 'work result', problems);
}
