import type { Context } from 'hono';
import type { ResponseOf, BodyOf, ENDPOINTS, Endpoint, EndpointName, ParametersOf, Problem } from '../api/index.js';
import type { Schema } from '../../base/index.js';
import type { StandardSchema } from '../../json/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import { describeUnknownKey, findSubschema, getMember } from '../config/index.js';
import { RequestError } from './request-error.js';
import type { Caller } from '../security/tokens.js';

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

export type RequestIssue = NonNullable<Problem['issues']>[number];

/** Lists what else is wrong with a body whose shape is invalid, so that its sender can correct everything at once. */
export type ListFurtherIssues = (body: unknown, issues: readonly RequestIssue[]) => Promise<readonly RequestIssue[]>;

/** The validators of one endpoint. They are compiled once, because a server checks many requests. */
export type RequestChecks = ReturnType<typeof createRequestChecks>;

export function createRequestChecks(definition: Endpoint) {
  const parameters = Object.entries(definition.query ?? {}).map(
    ([name, schema]) => [name, fromJsonSchema(schema), schema.type] as const,
  );
  const knownNames = new Set(parameters.map(([name]) => name));
  const body = definition.body === undefined ? undefined : fromJsonSchema(definition.body);
  return {
    query(sent: Readonly<Record<string, string>>) {
      const unknown = Object.keys(sent).find((name) => !knownNames.has(name));
      if (unknown !== undefined) {
        const advice = knownNames.size === 0 ? 'This path accepts no parameters' : `Use ${[...knownNames].join(', ')}`;
        throw new RequestError('INVALID_QUERY', `Unknown parameter "${unknown.slice(0, 100)}". ${advice}.`);
      }
      for (const [name, schema, type] of parameters) {
        const value = sent[name];
        if (value === undefined) continue;
        const issues = listIssues(schema, type === 'integer' ? readInteger(value) : value);
        if (issues.length === 0) continue;
        throw createIssuesError(
          'INVALID_QUERY',
          issues.map(({ message }) => ({ path: name, message })),
        );
      }
    },
    body(sent: unknown) {
      const issues = body === undefined ? [] : listIssues(body, sent, definition.body);
      if (issues.length > 0) throw createIssuesError('INVALID_BODY', issues);
    },
  };
}

/** The number of issues in the message; the problem's `issues` have all. */
const MAX_DESCRIBED = 10;

/** Lists what is wrong with a value; the definition of a body knows its keys. */
function listIssues(schema: StandardSchema, value: unknown, definition?: Schema): RequestIssue[] {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  const listed = new Set<string>();
  return (result.issues ?? []).map(({ path = [], message: problem }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    const unknown = describeUnknownKey(definition, keys);
    const description = getMember(findSubschema(definition, keys), 'description');
    const hint = problem === 'expected array, got string' ? 'a list is written ["one", "two"]' : description;
    const explained = typeof hint === 'string' ? `${problem} (${hint})` : problem;
    // The keys of an object are listed once.
    const message = unknown !== undefined && listed.has(unknown) ? 'unknown key' : (unknown ?? explained);
    if (unknown !== undefined) listed.add(unknown);
    return { path: keys.join('.'), message };
  });
}

/** Creates the error for an invalid body or query, with the first issues in its message. */
export function createIssuesError(
  code: 'INVALID_BODY' | 'INVALID_QUERY',
  issues: readonly RequestIssue[],
): RequestError {
  const described = issues
    .slice(0, MAX_DESCRIBED)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`.replace(/\.$/, '')));
  const left = issues.length - described.length;
  if (left > 0) described.push(`${left} more in "issues"`);
  const subject = code === 'INVALID_BODY' ? 'body' : 'query';
  return new RequestError(code, `Invalid ${subject}: ${described.join('; ')}.`, { issues });
}

/** Parses a decimal number; any other string is returned unchanged and fails validation. */
function readInteger(value: string): number | string {
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
