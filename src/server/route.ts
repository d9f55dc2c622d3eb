import type { Context } from 'hono';
import type { AnswerOf, BodyOf, ENDPOINTS, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { StandardSchema } from '../json/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { RequestError } from './request-error.js';
import type { Caller } from './security/tokens.js';

/** A request that has been let in and checked. */
export interface CheckedRequest<E extends Endpoint> {
  readonly params: Readonly<Record<ParametersOf<E['path']>, string>>;
  /** What was asked for, as text; numbers are checked and left to the handler. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: BodyOf<E>;
  readonly caller: Caller;
  readonly requestId: string;
  /** For answers that are not JSON. */
  readonly context: Context;
}

/** What an endpoint does. A `Response` is sent as it is. */
export type Handler<E extends Endpoint> = (request: CheckedRequest<E>) => Promise<AnswerOf<E> | Response>;

/** A handler for every endpoint of the table. */
export type Handlers = { readonly [Name in EndpointName]: Handler<(typeof ENDPOINTS)[Name]> };

/** The checks of one endpoint, made once. */
export interface RequestChecks {
  query(sent: Readonly<Record<string, string>>): void;
  body(sent: unknown): void;
}

/** Compiles the schemas of an endpoint. */
export function createRequestChecks(definition: Endpoint): RequestChecks {
  const parameters = Object.entries(definition.query ?? {}).map(
    ([name, schema]) => [name, fromJsonSchema(schema), schema.type] as const,
  );
  const known = new Set(parameters.map(([name]) => name));
  const body = definition.body === undefined ? undefined : fromJsonSchema(definition.body);
  return {
    query(sent) {
      const stranger = Object.keys(sent).find((name) => !known.has(name));
      if (stranger !== undefined) throw new RequestError('INVALID_QUERY', strangerMessage(stranger, [...known]));
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

function strangerMessage(name: string, known: readonly string[]): string {
  const advice = known.length === 0 ? 'This path takes none' : `Use ${known.join(', ')}`;
  return `There is no parameter ${name.slice(0, 100)}. ${advice}.`;
}

function check(schema: StandardSchema, value: unknown, code: 'INVALID_BODY' | 'INVALID_QUERY', at: string): void {
  const checked = schema['~standard'].validate(value);
  if (checked instanceof Promise) throw new TypeError('JSON Schema validates at once.');
  if (checked.issues === undefined) return;
  const issues = checked.issues.map(({ path = [], message }) => ({
    path: [at, ...path.map((part) => String(typeof part === 'object' ? part.key : part))].filter(Boolean).join('.'),
    message,
  }));
  const [first] = issues;
  const detail =
    first === undefined ? 'It does not fit.' : `${first.path === '' ? 'The body' : first.path}: ${first.message}`;
  throw new RequestError(code, detail, { issues });
}

/** A number as people write it; anything else stays the text it is, which is no number. */
function readInteger(value: string): number | string {
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
