import type { Context } from 'hono';
import type { ResponseOf, BodyOf, ENDPOINTS, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { StandardSchema } from '../../json/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import { RequestError } from './request-error.js';
import type { Caller } from '../security/tokens.js';

/** A request that was admitted and validated. */
export interface CheckedRequest<E extends Endpoint> {
  readonly params: Readonly<Record<ParametersOf<E['path']>, string>>;
  /** As strings: numbers are validated here and converted by the handler. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: BodyOf<E>;
  /** The unparsed body, to check signatures; empty if there is no body. */
  readonly bytes: Uint8Array;
  readonly caller: Caller;
  readonly requestId: string;
  /** For responses that are not JSON. */
  readonly context: Context;
}

/** An endpoint's handler. A `Response` is sent unchanged; a string or bytes are JSON already. */
export type Handler<E extends Endpoint> = (
  request: CheckedRequest<E>,
) => Promise<ResponseOf<E> | string | Uint8Array<ArrayBuffer> | Response>;

export type Handlers = { readonly [Name in EndpointName]: Handler<(typeof ENDPOINTS)[Name]> };

/** The validators of one endpoint. They are compiled once, because a server checks many requests. */
export interface RequestChecks {
  query(sent: Readonly<Record<string, string>>): void;
  body(sent: unknown): void;
}

export function createRequestChecks(definition: Endpoint): RequestChecks {
  const parameters = Object.entries(definition.query ?? {}).map(
    ([name, schema]) => [name, fromJsonSchema(schema), schema.type] as const,
  );
  const knownNames = new Set(parameters.map(([name]) => name));
  const body = definition.body === undefined ? undefined : fromJsonSchema(definition.body);
  return {
    query(sent) {
      const unknown = Object.keys(sent).find((name) => !knownNames.has(name));
      if (unknown !== undefined)
        throw new RequestError('INVALID_QUERY', describeUnknownParameter(unknown, [...knownNames]));
      for (const [name, schema, type] of parameters) {
        const value = sent[name];
        if (value !== undefined) check(schema, type === 'integer' ? readInteger(value) : value, 'INVALID_QUERY', name);
      }
    },
    body(sent) {
      if (body !== undefined) check(body, sent, 'INVALID_BODY', '');
    },
  };
}

function describeUnknownParameter(name: string, knownNames: readonly string[]): string {
  const advice = knownNames.length === 0 ? 'This path accepts no parameters' : `Use ${knownNames.join(', ')}`;
  return `Unknown parameter "${name.slice(0, 100)}". ${advice}.`;
}

function check(schema: StandardSchema, value: unknown, code: 'INVALID_BODY' | 'INVALID_QUERY', at: string): void {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (result.issues === undefined) return;
  const issues = result.issues.map(({ path = [], message }) => ({
    path: [at, ...path.map((part) => String(typeof part === 'object' ? part.key : part))].filter(Boolean).join('.'),
    message,
  }));
  const [first] = issues;
  const location = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const subject = code === 'INVALID_BODY' ? 'body' : 'query';
  throw new RequestError(code, `Invalid ${subject}: ${location}${first?.message ?? 'it does not match its schema'}.`, {
    issues,
  });
}

/** Parses a decimal number; any other string is returned unchanged and fails validation. */
function readInteger(value: string): number | string {
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
