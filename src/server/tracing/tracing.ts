import type { ExecutionRecord, RunRecord } from '../../records/index.js';
import type { AnsweredRequest } from '../server-meter.js';

/** Told of what is over, for traces. */
export interface Tracing {
  /** `at` is when it was answered; milliseconds since 1970. */
  request(answer: AnsweredRequest, at: number): void;
  run(run: RunRecord): void;
  execution(execution: ExecutionRecord): void;
}
