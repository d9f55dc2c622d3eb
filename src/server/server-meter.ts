import type { EndpointName } from '../api/endpoints.js';
import type { ParseResult } from '../json/index.js';

/** Told of everything the server does, for its figures. */
export interface ServerMeter {
  parsed(result: ParseResult<unknown>): void;
  answered(answer: { readonly endpoint: EndpointName | null; readonly status: number; readonly ms: number }): void;
}

const ignore = (): void => undefined;

/** Keeps no figures. */
export const silentMeter: ServerMeter = { parsed: ignore, answered: ignore };
