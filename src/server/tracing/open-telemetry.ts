import type { Context, TraceAPI } from '@opentelemetry/api';

/** The subset of the optional package `@opentelemetry/api` used here. */
export interface OpenTelemetry {
  readonly trace: TraceAPI;
  readonly ROOT_CONTEXT: Context;
}

/** The global symbol that every copy of the package registers an SDK under. */
const SDK_SYMBOL_NAME = /^opentelemetry\.js\.api\.\d+$/;

/** An SDK registered in this process: the version of its copy of the package, and its tracer provider. */
export interface RegisteredSdk {
  readonly version: string;
  readonly provider: unknown;
}

/** Finds the SDK that this process was started with (`node --import`); undefined without one. */
export function findSdk(global: object = globalThis): RegisteredSdk | undefined {
  for (const symbol of Object.getOwnPropertySymbols(global)) {
    if (!SDK_SYMBOL_NAME.test(symbol.description ?? '')) continue;
    const registered: unknown = Reflect.get(global, symbol);
    if (typeof registered !== 'object' || registered === null || !('trace' in registered)) continue;
    const version = 'version' in registered ? String(registered.version) : 'unknown';
    return { version, provider: registered.trace };
  }
  return undefined;
}
