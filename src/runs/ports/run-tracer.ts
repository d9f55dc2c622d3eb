import type { FcmpEvent } from '../../events/index.js';
import type { Decision, RunResult, RunSpec } from '../../records/index.js';

/** Creates spans for runs and orders; `src/tracing` implements it for OpenTelemetry. Its methods never throw. */
export interface RunTracer {
  /** Starts the span of a run; its parent is `spec.traceparent`. */
  startRun(run: { readonly id: string; readonly spec: RunSpec }): RunTrace;
  /** Starts the span of an order, which is the parent of its run. */
  startOrder(order: TracedOrder): OrderTrace;
}

/** The spans of one run. */
export interface RunTrace {
  /** The agent's `TRACEPARENT`, so that its own spans belong to the same trace; undefined if nothing is recorded. */
  readonly traceparent: string | undefined;
  /** Called with every FCMP event, in order. */
  onEvent(event: FcmpEvent): void;
  end(result: RunResult): void;
}

/** The fields of an order that are traced. */
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
  /** Ends the span; without a decision if another process continues the order. */
  end(decision: Decision | undefined): void;
}
