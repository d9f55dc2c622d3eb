import { ENDPOINTS, type EndpointName } from '../endpoints.js';
import type { Endpoint } from '../endpoint.js';
import { problemSchema, getSessionCookieName } from '../shapes/service.js';
import { findExample, sampleSchema, createComponents, type AnySchema, type Components } from './named-schemas.js';

/** Creates the server's OpenAPI 3.1 document. `https` is whether browsers reach it so, which changes the cookie's name. */
export function createOpenApi(version: string, { https = false, url = 'http://127.0.0.1:7171' } = {}) {
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

export type OpenApi = ReturnType<typeof createOpenApi>;

function describeOperation(name: EndpointName, definition: Endpoint, { toReference }: Components): object {
  const { summary, scope, body, path, response, problems = [] } = definition;
  const codes = problems.length === 0 ? '' : ` Problem codes: ${problems.join(', ')}.`;
  const describeJson = (part: 'request' | 'response', schema: object) => ({
    'application/json': {
      schema: toReference(schema, capitalize(name) + capitalize(part)),
      example: findExample(name, part, schema),
    },
  });
  const media = [response.media, response.alternative].filter((type) => type !== undefined);
  return {
    operationId: name,
    tags: [getTag(path)],
    summary,
    description: `${scope === 'none' ? 'No token needed.' : `Requires the scope \`${scope}\`.`}${codes}`,
    parameters: describeParameters(definition, toReference),
    ...(body === undefined ? {} : { requestBody: { required: true, content: describeJson('request', body) } }),
    responses: {
      [response.status]: {
        description: summary,
        content:
          response.schema === undefined
            ? Object.fromEntries(media.map((type) => [type, { schema: { type: 'string' } }]))
            : describeJson('response', response.schema),
      },
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
    security: scope === 'none' ? [] : [{ token: [] }, { session: [] }],
  };
}

function capitalize(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

const RESOURCES: Readonly<Record<string, string>> = {
  runs: 'the run',
  inbox: 'the inbox item',
  outbox: 'the comment',
  issues: 'the issue',
};

/** Path parameters with the same meaning in all endpoints. */
const PATH_PARAMETERS: Readonly<Record<string, { readonly description: string; readonly example: string }>> = {
  ref: { description: 'The issue reference, percent-encoded.', example: 'acme/shop#12' },
  attempt: { description: 'The attempt number, from 1.', example: '1' },
  stream: { description: 'The stream: stdout, stderr, pty or stdin.', example: 'stdout' },
  name: { description: "The trigger's name in the configuration.", example: 'github' },
};

/** Query parameters with the same meaning in all endpoints; a description in the endpoint table takes precedence. */
const QUERY_PARAMETERS: Readonly<Record<string, string>> = {
  after: 'The position of the last event received; the stream continues after it.',
  decision: 'Only entries with this decision.',
  engine: 'Only entries of this engine.',
  engine_version: 'Only entries of this engine version.',
  format: 'The export format; csv by default.',
  from: 'The position of the first event; the start by default.',
  issue_ref: 'Only entries of this issue.',
  limit: 'Maximum number of entries.',
  model: 'Only entries of this model.',
  name: 'The file name, from the file list.',
  outcome: 'Only runs with this outcome.',
  path: 'The file path, from the file list.',
  repair_level: 'Only runs with this repair level.',
  run_id: 'Only entries of this order.',
  state: 'Only entries in this state.',
  to: 'The position of the last event; the end by default.',
  worker: 'Only orders for this wrapper.',
};

function describeParameters({ path, query = {} }: Endpoint, toReference: (schema: object) => AnySchema): object[] {
  const pathParameters = [...path.matchAll(/(?:(\w+)\/)?\{(\w+)\}/g)].map(([, segment = '', name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(PATH_PARAMETERS[name] ?? {
      description: `The ${name} of ${RESOURCES[segment] ?? segment}.`,
      example: '01K9ZC4QZ8D1V1Y3M0S7G2T5XA',
    }),
    schema: { type: 'string' },
  }));
  const queryParameters = Object.entries(query).map(([name, schema]) => {
    const { description = QUERY_PARAMETERS[name], ...undescribed } = schema;
    return {
      name,
      in: 'query',
      required: false,
      ...(description === undefined ? {} : { description }),
      schema: toReference(undescribed),
    };
  });
  return [...pathParameters, ...queryParameters];
}

/** Endpoints are grouped by the first segment of their paths; the last tag has all others. */
const TAGS: readonly { readonly name: string; readonly description: string; readonly segments?: readonly string[] }[] =
  [
    { name: 'Parsing', description: 'Extract JSON from text.', segments: ['parse'] },
    { name: 'Runs', description: 'Start agents, follow them and read their results.', segments: ['runs', 'engines'] },
    {
      name: 'Orders',
      description: 'Submit work on issues and read the decisions about it.',
      segments: ['orders', 'issues', 'executions'],
    },
    { name: 'Inbox', description: 'Results and questions that need a human.', segments: ['inbox', 'waiting'] },
    { name: 'Comments', description: 'Comments on issues, and their delivery.', segments: ['outbox', 'sinks'] },
    { name: 'Session', description: 'The caller and its token.', segments: ['session'] },
    { name: 'Server', description: 'Health, workers, metrics and statistics.' },
  ];

function getTag(path: string): string | undefined {
  const [, segment = ''] = /^\/v1\/(\w+)/.exec(path) ?? [];
  return TAGS.find(({ segments }) => segments === undefined || segments.includes(segment))?.name;
}

function listTags(paths: readonly string[]) {
  const usedTags = new Set(paths.map(getTag));
  return TAGS.filter(({ name }) => usedTags.has(name)).map(({ name, description }) => ({ name, description }));
}
