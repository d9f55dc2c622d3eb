import { ENDPOINTS } from '../endpoints.js';
import type { EndpointName } from '../endpoints.js';
import type { Endpoint } from '../endpoint.js';
import { problemSchema } from '../shapes/problem.js';
import { getSessionCookieName } from '../shapes/session.js';
import { describeParameters } from './describe-parameters.js';
import { getTag, listTags } from './describe-tags.js';
import { findExample, sampleSchema } from './examples.js';
import { createComponents } from './named-schemas.js';
import type { AnySchema, Components } from './named-schemas.js';

/** Settings of the described server. */
export interface OpenApiOptions {
  /** Whether browsers reach the server over HTTPS, which changes the name of its cookie. */
  readonly https?: boolean;
  /** The server's URL; by default the URL of `sluice serve` without options. */
  readonly url?: string;
}

/**
 * Creates the server's OpenAPI 3.1 document from the endpoint table.
 *
 * @example
 * createOpenApi('0.1.0').paths['/v1/parse'].post.summary
 */
export function createOpenApi(
  version: string,
  { https = false, url = 'http://127.0.0.1:7171' }: OpenApiOptions = {},
): OpenApi {
  const components = createComponents();
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, definition] of Object.entries<Endpoint>(ENDPOINTS)) {
    const operations = (paths[definition.path] ??= {});
    operations[definition.method.toLowerCase()] = describeOperation(name as EndpointName, definition, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description: 'Turns raw agent output into validated results.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url, description: 'This server.' }],
    tags: listTags(Object.keys(paths)),
    paths,
    components: {
      schemas: components.schemas,
      responses: {
        Problem: {
          description: 'Why the request failed, with a code and what to do.',
          content: {
            'application/problem+json': {
              schema: components.toReference(problemSchema),
              example: sampleSchema(problemSchema as unknown as AnySchema),
            },
          },
        },
      },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A configured token, or the token that `sluice token` prints.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: getSessionCookieName(https),
          description: 'The cookie set by POST /v1/session, for use in a browser.',
        },
      },
    },
  };
}

/** The part of an OpenAPI 3.1 document that is used here. */
export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, AnySchema>> } & Readonly<Record<string, object>>;
}

function describeOperation(name: EndpointName, definition: Endpoint, { toReference }: Components): object {
  const { summary, scope, body, path, problems = [] } = definition;
  const codes = problems.length === 0 ? '' : ` Problem codes: ${problems.join(', ')}.`;
  return {
    operationId: name,
    tags: [getTag(path)],
    summary,
    description: `${scope === 'none' ? 'No token needed.' : `Requires the scope \`${scope}\`.`}${codes}`,
    parameters: describeParameters(definition, toReference),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: toReference(body, `${capitalize(name)}Request`),
                example: findExample(name, 'request', body),
              },
            },
          },
        }),
    responses: {
      ...describeResponse(name, definition, toReference),
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
    security: scope === 'none' ? [] : [{ token: [] }, { session: [] }],
  };
}

function describeResponse(
  name: EndpointName,
  { summary, response }: Endpoint,
  toReference: Components['toReference'],
): object {
  const { status, media, alternative, schema } = response;
  const content =
    schema === undefined
      ? Object.fromEntries(
          [media, ...(alternative === undefined ? [] : [alternative])].map((type) => [type, ANY_CONTENT]),
        )
      : {
          [media]: {
            schema: toReference(schema, `${capitalize(name)}Response`),
            example: findExample(name, 'response', schema),
          },
        };
  return { [status]: { description: summary, content } };
}

const ANY_CONTENT = { schema: { type: 'string' } };

function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
