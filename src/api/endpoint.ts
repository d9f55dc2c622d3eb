import type { FromSchema, Schema } from '../base/index.js';

/** What a token must be allowed to do; `none` is for everyone. */
export type Scope = 'none' | 'read' | 'run' | 'decide';

/** What an endpoint sends back. */
export type Media =
  | 'application/json'
  | 'text/event-stream'
  | 'text/plain'
  | 'text/csv'
  | 'application/x-ndjson'
  | 'application/octet-stream'
  | 'application/x-tar';

/** One thing the server can be asked: the one place where its path, its request and its answer are written down. */
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
    /** Another one that can be asked for. */
    readonly alternative?: Media;
    readonly schema?: Schema;
  };
  /** Codes of the problems it may answer with, beside those of every endpoint. */
  readonly problems?: readonly string[];
}

/** Keeps an endpoint's literal types, so that requests and answers are typed by their schemas. */
export function endpoint<const Definition extends Endpoint>(definition: Definition): Definition {
  return definition;
}

/** The answer of an endpoint that tells something. */
export function json<const Answer extends Schema>(schema: Answer) {
  return { status: 200, media: 'application/json', schema } as const;
}

/** The answer of an endpoint that makes something. */
export function created<const Answer extends Schema>(schema: Answer) {
  return { status: 201, media: 'application/json', schema } as const;
}

/** The body an endpoint takes. */
export type BodyOf<E extends Endpoint> = E extends { readonly body: infer Body extends Schema }
  ? FromSchema<Body>
  : undefined;

/** What an endpoint answers with, if it is JSON. */
export type AnswerOf<E extends Endpoint> = E extends {
  readonly answer: { readonly schema: infer Answer extends Schema };
}
  ? FromSchema<Answer>
  : undefined;

/** The names in braces of a path. */
export type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;
