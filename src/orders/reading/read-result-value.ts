import { createInvalidError } from '../orders-error.js';
import { createValueProblem } from '../shapes/check-shape.js';
import type { Problem, WorkOrder, WorkResult } from '../../store/records/index.js';
import { normalizeResult } from './normalize-result.js';
import { isFields, readResultFields } from './result-fields.js';

/**
 * Validates a result that a human entered for an order, in either spelling. Issue and run default to the order's. The
 * result must be acceptable: `ok`, with evidence and an explicit statement about tests.
 *
 * @example
 * readResultValue({ status: 'ok', changes: { pr: '#7' }, tests: 'n/a', summary: 'Done by hand.' }, order)
 */
export function readResultValue(value: unknown, order: Pick<WorkOrder, 'issue_ref' | 'run_id'>): WorkResult {
  if (!isFields(value)) throw createResultError([createValueProblem('', 'must be an object')]);
  const { known, conflicts } = readResultFields(Object.entries(value));
  const fields = new Map([['issue_ref', order.issue_ref], ['run_id', order.run_id], ...known]);
  const { result, problems } = normalizeResult({ known: fields, conflicts });
  if (result === undefined || problems.length > 0) throw createResultError(problems);
  if (result.status !== 'ok')
    throw createResultError([createValueProblem('status', 'only ok can be accepted; reject it instead')]);
  if (result.issue_ref !== order.issue_ref || result.run_id !== order.run_id) {
    throw createResultError([createValueProblem('run_id', `must be the result of ${order.issue_ref} ${order.run_id}`)]);
  }
  return result;
}

function createResultError(problems: readonly Problem[]): Error {
  return createInvalidError('INVALID_WORK_RESULT', 'work result', problems);
}
