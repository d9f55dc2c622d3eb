import { isIncompleteCode, type ExecutionRecord, type InboxItem, type Reading } from '../store/records/index.js';
import type { Execution } from '../store/ports/index.js';

/** The version of the rules for reading results. It changes whenever the rules do. */
export const READER_VERSION = 'work-result/1';

/** Creates the permanent record of an execution. */
export function createExecution(execution: Execution): ExecutionRecord {
  const { order, reading, decision } = execution;
  return {
    id: execution.id,
    issue_ref: order.issue_ref,
    run_id: order.run_id,
    run: execution.run,
    worker: order.worker,
    worker_type: execution.workerType,
    command: execution.command ?? [],
    worker_version: execution.workerVersion ?? null,
    parser_version: READER_VERSION,
    started_at: execution.startedAt ?? null,
    duration_ms: execution.durationMs ?? null,
    exit_code: execution.exitCode,
    signal: execution.signal,
    result_encoding: reading.source,
    parse_path: reading.path ?? null,
    parse_status: getParseStatus(reading),
    problems: [...reading.problems, ...(reading.notices ?? [])],
    decision: decision.action,
    result_code: decision.result_code,
    reason: decision.reason,
    who: execution.who ?? null,
    at: execution.at,
    ...(decision.evidence === undefined ? {} : { evidence: decision.evidence }),
  };
}

/** Returns the parse status of a result. */
export function getParseStatus({ source, result, problems }: Reading): ExecutionRecord['parse_status'] {
  switch (source) {
    case 'none':
      return 'missing';
    case 'streams':
      return 'anchors';
    case 'json':
    case 'text':
      if (result !== undefined && problems.length === 0) return 'parsed';
      return problems.every(({ code }) => isIncompleteCode(code)) ? 'incomplete' : 'unreadable';
  }
}

/** Creates the inbox item for an execution that the rules could not settle. */
export function createItem(
  execution: Pick<Execution, 'id' | 'order' | 'run' | 'exitCode' | 'signal' | 'reading' | 'decision' | 'at'>,
): InboxItem {
  const { order, decision } = execution;
  return {
    id: execution.id,
    issue_ref: order.issue_ref,
    run_id: order.run_id,
    run: execution.run,
    reason: decision.reason,
    next: decision.next,
    result_code: decision.result_code,
    reading: execution.reading,
    exit_code: execution.exitCode,
    signal: execution.signal,
    created_at: execution.at,
    resolution: null,
    ...(decision.evidence === undefined ? {} : { evidence: decision.evidence }),
  };
}
