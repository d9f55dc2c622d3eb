import { ENDPOINTS } from './endpoints.js';
import type { Endpoint } from './endpoint.js';
import { problemSchema } from './shapes/problem.js';
import { sessionCookieName } from './shapes/session.js';

/**
 * The OpenAPI 3.1 document of the server, made from the table of endpoints.
 *
 * @example
 * createOpenApi('0.1.0').paths['/v1/parse'].post.summary
 */
export function createOpenApi(version: string, { https = false }: { readonly https?: boolean } = {}): OpenApi {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, definition] of Object.entries<Endpoint>(ENDPOINTS)) {
    const operations = (paths[definition.path] ??= {});
    operations[definition.method.toLowerCase()] = describeOperation(name, definition);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: 'Turns raw agent output into validated results.' },
    paths,
    components: {
      schemas: { Problem: problemSchema },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookieName(https) },
      },
    },
  };
}

/** The part of an OpenAPI 3.1 document that is used. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: object;
}

function describeOperation(name: string, definition: Endpoint): object {
  const { summary, scope, body, answer, problems = [] } = definition;
  return {
    operationId: name,
    summary,
    description: scope === 'none' ? 'No token needed.' : `Needs the scope \`${scope}\`.`,
    parameters: [...pathParameters(definition.path), ...queryParameters(definition)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [answer.status]: {
        description: summary,
        content: {
          [answer.media]: answer.schema === undefined ? {} : { schema: answer.schema },
          ...(answer.alternative === undefined ? {} : { [answer.alternative]: {} }),
        },
      },
      default: {
        description: ['A problem.', ...(problems.length === 0 ? [] : [`Codes: ${problems.join(', ')}.`])].join(' '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    security: scope === 'none' ? [] : [{ token: [] }, { session: [] }],
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query = {} }: Endpoint): object[] {
  return Object.entries(query).map(([parameter, schema]) => ({
    name: parameter,
    in: 'query',
    required: false,
    schema,
  }));
}
