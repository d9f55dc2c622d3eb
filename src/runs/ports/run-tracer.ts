import type { FcmpEvent } from '../../events/index.js';
import type { Decision, RunResult, RunSpec } from '../../records/index.js';

/** Makes spans of runs and orders while they happen; `src/tracing` has the one for OpenTelemetry. None of its methods throws. */
export interface RunTracer {
  /** A run begins; its parent is `spec.traceparent`. */
  startRun(run: { readonly id: string; readonly spec: RunSpec }): RunTrace;
  /** The execution of an order begins: the parent of its run. */
  startOrder(order: TracedOrder): OrderTrace;
}

/** The spans of one run. */
export interface RunTrace {
  /** The agent's `TRACEPARENT`, so that its own spans join; undefined if nothing is recorded. */
  readonly traceparent: string | undefined;
  /** Every FCMP event, in order. */
  onEvent(event: FcmpEvent): void;
  end(result: RunResult): void;
}

/** An order as a trace needs it. */
export interface TracedOrder {
  readonly issue_ref: string;
  readonly run_id: string;
  /** The run that carries it. */
  readonly run: string;
  readonly worker: string;
  readonly traceparent: string | undefined;
}

/** The span of one order. */
export interface OrderTrace {
  readonly traceparent: string | undefined;
  /** Without a decision if another process continues the order. */
  end(decision: Decision | undefined): void;
}
