import type {
  Decision,
  InboxItem,
  IssueRecord,
  IssueState,
  OrderRecord,
  OrderState,
  WorkOrder,
  WorkResult,
} from '../../records/index.js';
import { columnsOf } from './columns.js';
import type { Row } from './driver.js';

/** An issue as its row has it; the table allows only known states. */
export function readIssue(row: Row): IssueRecord {
  const { text, textOrNull, number, time } = columnsOf(row);
  return {
    issue_ref: text('issue_ref'),
    state: text('state') as IssueState,
    active_run_id: textOrNull('active_run_id'),
    last_run_number: number('last_run_number'),
    updated_at: time('updated_at'),
  };
}

/** A row of `order_records` as the record it stands for. */
export function readOrder(row: Row): OrderRecord {
  const { text, time, timeOrNull, json, jsonOrNull } = columnsOf(row);
  return {
    order: json('work_order') as WorkOrder,
    run: text('run'),
    worker_type: text('worker_type'),
    state: text('state') as OrderState,
    created_at: time('created_at'),
    started_at: timeOrNull('started_at'),
    settled_at: timeOrNull('settled_at'),
    decision: jsonOrNull('decision') as Decision | null,
    result: jsonOrNull('result') as WorkResult | null,
  };
}

/** An item as its row has it. What people decided stands beside it, since that comes later. */
export function readItem(row: Row): InboxItem {
  const { json, jsonOrNull } = columnsOf(row);
  return { ...(json('item') as InboxItem), resolution: jsonOrNull('resolution') as InboxItem['resolution'] };
}
