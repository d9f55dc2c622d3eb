import type { Attributes } from '@opentelemetry/api';
import { getErrorMessage } from '../base/index.js';
import type { Logger } from '../base/index.js';
import { VERSION } from '../files/index.js';
import type { RunTracer } from '../runs/index.js';
import { findSdk } from './open-telemetry.js';
import type { OpenTelemetry } from './open-telemetry.js';
import { startRunTrace } from './run-trace.js';
import { formatTraceparent, readParent } from './trace-parent.js';

/** Makes spans of requests, runs and orders. */
export interface Tracing extends RunTracer {
  /** A request that was answered; `at` is when, in milliseconds since 1970. */
  request(answer: TracedRequest, at: number): void;
  /** Sends what was recorded, within seconds: for processes that are about to end. */
  flush(): Promise<void>;
}

interface TracedRequest {
  readonly endpoint: string;
  readonly status: number;
  readonly ms: number;
  readonly traceparent?: string | undefined;
}

/** How traces are made. */
export interface TracingOptions {
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
  /** Whether prompts, answers, and arguments and results of tools are recorded, shortened. They may hold secrets. */
  readonly content?: boolean | undefined;
  /** The address of the console, for links to runs. */
  readonly consoleUrl?: string | undefined;
  /** The environment variables that show whether traces are wanted. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly load?: () => Promise<OpenTelemetry>;
}

/** A collector that does not respond must not prevent a command from exiting. */
const FLUSH_MS = 5000;

/**
 * Traces through `@opentelemetry/api`, to the SDK that the process was started with (`node --import`). Undefined without
 * an SDK; a warning where there is one that would receive nothing.
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
    if (isWanted(env)) {
      logger.warn(
        'no traces: OTEL_* variables are set, but no OpenTelemetry SDK is loaded. Start Node.js with --import and your SDK set-up.',
      );
    }
    return undefined;
  }
  let api: OpenTelemetry;
  try {
    api = await load();
  } catch (error) {
    logger.warn('no traces: an OpenTelemetry SDK is loaded, but @opentelemetry/api is not installed beside Sluice', {
      error: getErrorMessage(error),
    });
    return undefined;
  }
  // A copy of the package silently ignores an SDK that was registered by an older one.
  if (api.trace.getTracerProvider() !== sdk.provider) {
    logger.warn(
      'no traces: the OpenTelemetry SDK uses another version of @opentelemetry/api. Install the same version beside Sluice.',
      { sdk_api_version: sdk.version },
    );
    return undefined;
  }
  return createTracing(api, { content, consoleUrl });
}

/** Whether the usual variables ask for traces. */
function isWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter = '' } = env;
  if (disabled === 'true' || exporter === 'none') return false;
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  return exporter !== '' || names.some((name) => (env[name] ?? '') !== '');
}

function createTracing(api: OpenTelemetry, settings: { content: boolean; consoleUrl: string | undefined }): Tracing {
  const tracer = api.trace.getTracer('sluice', VERSION);
  return {
    request({ endpoint, status, ms, traceparent }, at) {
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

/** `SpanKind.SERVER`; the package is not loaded here. */
const SERVER = 1;

/** The package itself has no such method: the provider behind its proxy has it. */
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
