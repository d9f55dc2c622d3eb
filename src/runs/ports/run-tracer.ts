import type { FcmpEvent } from '../../events/index.js';
import type { Decision, RunResult, RunSpec } from '../../records/index.js';

/** Creates spans for runs and orders; `src/tracing` implements it for OpenTelemetry. Its methods never throw. */
export interface RunTracer {
  /** Starts a run's span; its parent is `spec.traceparent`. */
  startRun(run: { readonly id: string; readonly spec: RunSpec }): RunTrace;
  /** Starts an order's span, which is the parent of its run's span. */
  startOrder(order: TracedOrder): OrderTrace;
}

/** A run's spans. */
export interface RunTrace {
  /** The agent's `TRACEPARENT`, which makes its own spans part of the same trace; undefined if nothing is recorded. */
  readonly traceparent: string | undefined;
  /** Called with every FCMP event, in order. */
  onEvent(event: FcmpEvent): void;
  end(result: RunResult): void;
}

/** An order's traced fields. */
export interface TracedOrder {
  readonly issue_ref: string;
  readonly run_id: string;
  /** The run that carries it. */
  readonly run: string;
  readonly worker: string;
  readonly traceparent: string | undefined;
}

/** An order's span. */
export interface OrderTrace {
  readonly traceparent: string | undefined;
  /** Ends the span; without a decision if another process continues the order. */
  end(decision: Decision | undefined): void;
}
