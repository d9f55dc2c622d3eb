import type { EndpointName } from '../api/index.js';
import type { ParseResult } from '../json/index.js';

/** Told of everything the server does, for its figures. */
export interface ServerMeter {
  parsed(result: ParseResult<unknown>): void;
  answered(answer: AnsweredRequest): void;
  /** The figures as Prometheus reads them. */
  render(): Promise<string>;
}

/** A request that is over. */
export interface AnsweredRequest {
  readonly endpoint: EndpointName;
  readonly status: number;
  readonly ms: number;
  /** The trace it belongs to, as its `traceparent` header says. */
  readonly traceparent?: string | undefined;
}
