import type { Attributes, Context, PropagationAPI, TraceAPI, Tracer } from '@opentelemetry/api';
import type { ExecutionRecord, RunRecord } from '../../records/index.js';
import type { Logger } from '../../base/index.js';
import { VERSION } from '../../files/index.js';
import type { AnsweredRequest } from '../server-context.js';

/** Receives what has ended, for traces. */
export interface Tracing {
  /** `at` is when it was answered; milliseconds since 1970. */
  request(answer: AnsweredRequest, at: number): void;
  run(run: RunRecord): void;
  execution(execution: ExecutionRecord): void;
}

/** The part of the optional package that is used. */
interface OpenTelemetry {
  readonly trace: TraceAPI;
  readonly propagation: PropagationAPI;
  readonly ROOT_CONTEXT: Context;
}

/**
 * Traces through `@opentelemetry/api`, if it is installed; undefined if not. The SDK that the process was started with
 * (`node --import`) exports them; without one they cost next to nothing.
 */
export async function openTracing(
  logger: Pick<Logger, 'debug'>,
  load: () => Promise<OpenTelemetry> = async () => import('@opentelemetry/api'),
): Promise<Tracing | undefined> {
  try {
    return createTracing(await load());
  } catch (error) {
    logger.debug('no traces: @opentelemetry/api is not installed', { error: String(error) });
    return undefined;
  }
}

/** Spans are created when something has ended, from its record, with the recorded times. */
function createTracing({ trace, propagation, ROOT_CONTEXT }: OpenTelemetry): Tracing {
  const tracer = trace.getTracer('sluice', VERSION);
  return {
    request({ endpoint, status, ms, traceparent }, at) {
      const parent = traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
      const attributes = { 'sluice.endpoint': endpoint, 'http.response.status_code': status };
      record(tracer, { name: `sluice.request ${endpoint}`, from: at - ms, to: at, attributes, parent });
    },
    run({ id, spec, started_at, created_at, ended_at, result, order }) {
      const attributes = {
        'sluice.run_id': id,
        'sluice.engine': spec.engine,
        'sluice.status': result?.status ?? 'unknown',
        'sluice.attempts': result?.attempts ?? 0,
        ...(order === null ? {} : { 'sluice.issue_ref': order.issue_ref }),
      };
      const [from, to] = [Date.parse(started_at ?? created_at), Date.parse(ended_at ?? '')];
      record(tracer, { name: `sluice.run ${spec.engine}`, from, to, attributes, parent: ROOT_CONTEXT });
    },
    execution({ issue_ref, run_id, run, worker, decision, result_code, who, started_at, duration_ms, at }) {
      const attributes = {
        'sluice.issue_ref': issue_ref,
        'sluice.order_run_id': run_id,
        'sluice.run_id': run,
        'sluice.worker': worker,
        'sluice.decision': decision,
        'sluice.result_code': result_code,
        'sluice.decided_by': who === null ? 'rules' : 'person',
      };
      const to = Date.parse(at);
      const from = started_at === null ? to - (duration_ms ?? 0) : Math.min(to, Date.parse(started_at));
      record(tracer, { name: 'sluice.order', from, to, attributes, parent: ROOT_CONTEXT });
    },
  };
}

interface Recorded {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly parent: Context;
}

function record(tracer: Tracer, { name, from, to, attributes, parent }: Recorded): void {
  tracer.startSpan(name, { startTime: from, attributes }, parent).end(to);
}
