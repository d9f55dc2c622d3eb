import type {
  Decision,
  IssueRecord,
  IssueState,
  OrderRecord,
  OrderState,
  WorkOrder,
  WorkResult,
} from '../../records/index.js';
import type { SqlRow } from './driver.js';
import {
  readInteger,
  readJson,
  readJsonOrNull,
  readText,
  readTextOrNull,
  readTime,
  readTimeOrNull,
} from './row-reader.js';

/** A row of `order_records` as the record it stands for. */
export function readOrder(row: SqlRow): OrderRecord {
  return {
    order: readJson(row, 'work_order') as WorkOrder,
    run: readText(row, 'run'),
    worker_type: readText(row, 'worker_type'),
    state: readText(row, 'state') as OrderState,
    created_at: readTime(row, 'created_at'),
    started_at: readTimeOrNull(row, 'started_at'),
    settled_at: readTimeOrNull(row, 'settled_at'),
    decision: readJsonOrNull(row, 'decision') as Decision | null,
    result: readJsonOrNull(row, 'result') as WorkResult | null,
  };
}

/** A row of `issues` as the record it stands for. */
export function readIssue(row: SqlRow): IssueRecord {
  return {
    issue_ref: readText(row, 'issue_ref'),
    state: readText(row, 'state') as IssueState,
    active_run_id: readTextOrNull(row, 'active_run_id'),
    last_run_number: readInteger(row, 'last_run_number'),
    updated_at: readTime(row, 'updated_at'),
  };
}
