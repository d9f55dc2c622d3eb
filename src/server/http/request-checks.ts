import type { Context } from 'hono';
import type { ResponseOf, BodyOf, ENDPOINTS, Endpoint, EndpointName, ParametersOf } from '../api/index.js';
import type { StandardSchema } from '../../json/index.js';
import { fromJsonSchema, isJsonObject } from '../../json/schema/index.js';
import { findNearestName } from '../../base/index.js';
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
        if (value !== undefined)
          check(schema, type === 'integer' ? readInteger(value) : value, { code: 'INVALID_QUERY', at: name });
      }
    },
    body(sent) {
      if (body !== undefined) check(body, sent, { code: 'INVALID_BODY', definition: definition.body });
    },
  };
}

function describeUnknownParameter(name: string, knownNames: readonly string[]): string {
  const advice = knownNames.length === 0 ? 'This path accepts no parameters' : `Use ${knownNames.join(', ')}`;
  return `Unknown parameter "${name.slice(0, 100)}". ${advice}.`;
}

/** The number of issues in the message; the problem's `issues` have all. */
const MAX_DESCRIBED = 10;

interface Checked {
  readonly code: 'INVALID_BODY' | 'INVALID_QUERY';
  /** The name of a query parameter. */
  readonly at?: string;
  /** The JSON Schema of a body, to name the keys that it knows. */
  readonly definition?: unknown;
}

function check(schema: StandardSchema, value: unknown, { code, at, definition }: Checked): void {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (result.issues === undefined) return;
  const issues = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return {
      path: [...(at === undefined ? [] : [at]), ...keys].join('.'),
      message: describeUnknownKey(definition, keys) ?? message,
    };
  });
  const described = issues
    .slice(0, MAX_DESCRIBED)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const left = issues.length - described.length;
  if (left > 0) described.push(`${left} more in "issues"`);
  const subject = code === 'INVALID_BODY' ? 'body' : 'query';
  throw new RequestError(code, `Invalid ${subject}: ${described.join('; ')}.`, { issues });
}

/** Describes a key that its object's schema does not have; undefined if it has it, or its keys are not listed. */
function describeUnknownKey(definition: unknown, keys: readonly string[]): string | undefined {
  const [key, ...rest] = keys;
  if (key === undefined || !isJsonObject(definition)) return undefined;
  const { properties, items } = definition;
  if (!isJsonObject(properties)) return describeUnknownKey(items, rest);
  if (Object.hasOwn(properties, key)) return describeUnknownKey(properties[key], rest);
  const known = Object.keys(properties);
  const nearest = findNearestName(key, known);
  return `unknown key (${nearest === undefined ? `use one of: ${known.join(', ')}` : `did you mean "${nearest}"?`})`;
}

/** Parses a decimal number; any other string is returned unchanged and fails validation. */
function readInteger(value: string): number | string {
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
