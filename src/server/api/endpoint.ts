import { type FromSchema, type Schema, arrayOf, name, object, orNull } from '../../base/index.js';

/** The scope a token needs; `none` needs no token. */
export type Scope = 'none' | 'read' | 'run' | 'decide' | 'worker';

export type Media =
  | 'application/json'
  | 'text/event-stream'
  | 'text/plain'
  | 'text/csv'
  | 'text/html'
  | 'application/x-ndjson'
  | 'application/octet-stream'
  | 'application/x-tar';

/** One endpoint: the only place that defines its path, request and response. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Parameters in braces, as OpenAPI writes them: `/v1/runs/{id}`. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** The maximum size of a body sent without a token; 4 KiB by default. */
  readonly maxAnonymousBytes?: number;
  /** Whether pages of other origins are refused even with a token. */
  readonly checksOrigin?: boolean;
  readonly response: {
    readonly status: 200 | 201;
    readonly media: Media;
    /** An alternative media type that the client can request. */
    readonly alternative?: Media;
    readonly schema?: Schema;
  };
  /** This endpoint's problem codes, besides the common ones. */
  readonly problems?: readonly string[];
}

type Details = Omit<Endpoint, 'method' | 'path' | 'scope'>;

/** Defines an endpoint that reads. Literal types are preserved, so requests and responses are typed by their schemas. */
export function get<const Path extends string, const S extends Scope, const More extends Details>(
  path: Path,
  scope: S,
  details: More,
) {
  return { method: 'GET', path, scope, ...details } as const;
}

export function post<const Path extends string, const S extends Scope, const More extends Details>(
  path: Path,
  scope: S,
  details: More,
) {
  return { method: 'POST', path, scope, ...details } as const;
}

export function json<const Body extends Schema>(schema: Body) {
  return { status: 200, media: 'application/json', schema } as const;
}

export function created<const Body extends Schema>(schema: Body) {
  return { status: 201, media: 'application/json', schema } as const;
}

export type BodyOf<E extends Endpoint> = E extends { readonly body: infer Body extends Schema }
  ? FromSchema<Body>
  : undefined;

export type ResponseOf<E extends Endpoint> = E extends {
  readonly response: { readonly schema: infer Body extends Schema };
}
  ? FromSchema<Body>
  : undefined;

export type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;

/** Selects a page of a list; `cursor` is the `next_cursor` of the previous page. */
export const pageQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 500, description: 'Maximum number of items; 50 by default.' },
  cursor: { type: 'string', maxLength: 500, description: 'The next_cursor of the previous page.' },
} as const;

export function definePage<const Item extends Schema>(items: Item) {
  return object({ items: arrayOf(items), next_cursor: orNull(name) });
}

export const timeParameter = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z)?$',
  description: 'A date, or a time in UTC: 2026-11-15 or 2026-11-15T08:00:00Z.',
} as const;

export const search = { type: 'string', minLength: 1, maxLength: 200 } as const;
