import type { Attributes } from '@opentelemetry/api';
import { getErrorMessage, type Logger } from '../../base/index.js';
import { VERSION } from '../../base/files/index.js';
import type { RunTracer } from '../../runs/index.js';
import { findSdk, formatTraceparent, readParent, type OpenTelemetry } from './open-telemetry.js';
import { startRunTrace } from './run-trace.js';

/** Creates spans for requests, runs and orders. */
export interface Tracing extends RunTracer {
  /** Records an HTTP request; `at` is when the response was sent, in milliseconds since 1970. */
  recordRequest(request: TracedRequest, at: number): void;
  /** Sends the recorded spans, waiting at most a few seconds; for processes that are about to exit. */
  flush(): Promise<void>;
}

interface TracedRequest {
  readonly endpoint: string;
  readonly status: number;
  readonly ms: number;
  readonly traceparent?: string | undefined;
}

export interface TracingOptions {
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
  /** Whether to record prompts, answers, tool arguments and tool results, shortened. They can contain secrets. */
  readonly content?: boolean | undefined;
  /** The console's URL, for links to runs. */
  readonly consoleUrl?: string | undefined;
  /** Environment variables that show whether traces are expected. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly load?: () => Promise<OpenTelemetry>;
}

/** A collector that does not respond must not prevent a command from exiting. */
const FLUSH_MS = 5000;

/**
 * Opens tracing through `@opentelemetry/api` to the SDK that the process was started with (`node --import`). Returns
 * undefined without an SDK. Logs a warning if traces are expected but would not arrive.
 */
export async function openTracing({
  logger,
  content = false,
  consoleUrl,
  env = process.env,
  load = async () => import('@opentelemetry/api'),
}: TracingOptions): Promise<Tracing | undefined> {
  const sdk = findSdk();
  if (sdk === undefined) {
    if (isTracingRequested(env)) {
      logger.warn(
        'no traces are sent: OTEL_* variables are set, but no OpenTelemetry SDK is loaded. Start Node.js with --import and the module that sets up your SDK.',
      );
    }
    return undefined;
  }
  let api: OpenTelemetry;
  try {
    api = await load();
  } catch (error) {
    logger.warn(
      'no traces are sent: an OpenTelemetry SDK is loaded, but Sluice cannot import @opentelemetry/api. Install it in the same project as Sluice.',
      {
        error: getErrorMessage(error),
      },
    );
    return undefined;
  }
  // A copy of the package silently ignores an SDK registered by an older copy.
  if (api.trace.getTracerProvider() !== sdk.provider) {
    logger.warn(
      'no traces are sent: the OpenTelemetry SDK uses another version of @opentelemetry/api. Install the same version in the same project as Sluice.',
      { sdk_api_version: sdk.version },
    );
    return undefined;
  }
  return createTracing(api, { content, consoleUrl });
}

/** Whether the standard variables request traces. */
function isTracingRequested(env: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter = '' } = env;
  if (disabled?.trim().toLowerCase() === 'true' || exporter === 'none') return false;
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  return exporter !== '' || names.some((name) => (env[name] ?? '') !== '');
}

function createTracing(api: OpenTelemetry, settings: { content: boolean; consoleUrl: string | undefined }): Tracing {
  const tracer = api.trace.getTracer('sluice', VERSION);
  return {
    recordRequest({ endpoint, status, ms, traceparent }, at) {
      const attributes = { 'sluice.endpoint': endpoint, 'http.response.status_code': status };
      const options = { startTime: at - ms, attributes, kind: SERVER };
      tracer.startSpan(`sluice.request ${endpoint}`, options, readParent(api, traceparent)).end(at);
    },
    startRun: (run) => startRunTrace({ api, tracer, ...settings }, run),
    startOrder({ issue_ref, run_id, run, worker, traceparent }) {
      const attributes: Attributes = {
        'sluice.issue_ref': issue_ref,
        'sluice.order_run_id': run_id,
        'sluice.run_id': run,
        'sluice.worker': worker,
      };
      const span = tracer.startSpan('sluice.order', { attributes }, readParent(api, traceparent));
      return {
        traceparent: formatTraceparent(span.spanContext()),
        end(decision) {
          if (decision !== undefined) {
            span.setAttributes({
              'sluice.decision': decision.action,
              'sluice.result_code': decision.result_code,
            });
          }
          span.end();
        },
      };
    },
    async flush() {
      const provider: unknown = api.trace.getTracerProvider();
      const flushing = forceFlush(provider);
      if (flushing === undefined) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, FLUSH_MS);
      });
      await Promise.race([flushing.catch(() => undefined), timeout]);
      clearTimeout(timer);
    },
  };
}

/** The value of `SpanKind.SERVER`; the optional package that defines it is not imported here. */
const SERVER = 1;

/** Calls the provider's `forceFlush`, which the package hides behind a proxy. */
function forceFlush(provider: unknown): Promise<unknown> | undefined {
  if (typeof provider !== 'object' || provider === null) return undefined;
  if ('forceFlush' in provider && typeof provider.forceFlush === 'function') {
    return Promise.resolve(Reflect.apply(provider.forceFlush, provider, []));
  }
  if ('getDelegate' in provider && typeof provider.getDelegate === 'function') {
    return forceFlush(Reflect.apply(provider.getDelegate, provider, []));
  }
  return undefined;
}
