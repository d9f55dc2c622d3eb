import type { FromSchema, Schema } from '../base/index.js';

/** The scope a token needs; `none` needs no token. */
export type Scope = 'none' | 'read' | 'run' | 'decide';

/** The media types of responses. */
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
  /** A sentence for the page that lists the endpoints. */
  readonly summary: string;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  readonly answer: {
    readonly status: 200 | 201;
    readonly media: Media;
    /** An alternative the client can request. */
    readonly alternative?: Media;
    readonly schema?: Schema;
  };
  /** Codes of its problems, besides those of every endpoint. */
  readonly problems?: readonly string[];
}

/** Keeps an endpoint's literal types, so that requests and answers are typed by their schemas. */
export function endpoint<const Definition extends Endpoint>(definition: Definition): Definition {
  return definition;
}

/** A JSON response. */
export function json<const Answer extends Schema>(schema: Answer) {
  return { status: 200, media: 'application/json', schema } as const;
}

/** A JSON response with status 201. */
export function created<const Answer extends Schema>(schema: Answer) {
  return { status: 201, media: 'application/json', schema } as const;
}

/** The body of a request. */
export type BodyOf<E extends Endpoint> = E extends { readonly body: infer Body extends Schema }
  ? FromSchema<Body>
  : undefined;

/** The JSON of a response. */
export type AnswerOf<E extends Endpoint> = E extends {
  readonly answer: { readonly schema: infer Answer extends Schema };
}
  ? FromSchema<Answer>
  : undefined;

/** The names in braces of a path. */
export type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;
