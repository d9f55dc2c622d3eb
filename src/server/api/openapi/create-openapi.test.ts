import { describe, expect, it } from 'vitest';
import { fromJsonSchema } from '../../../json/schema/index.js';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINTS } from '../endpoints.js';
import type { EndpointName } from '../endpoints.js';
import { createOpenApi } from './create-openapi.js';
import { findExample } from './named-schemas.js';

interface DescribedOperation {
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly description?: string }[];
}

const endpoints = Object.entries<Endpoint>(ENDPOINTS);

describe('the OpenAPI document', () => {
  const document = createOpenApi('1.2.3');

  it('names every endpoint once', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map((operation) => String(Reflect.get(operation, 'operationId')));
    expect(ids.toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
  });

  it('declares every path parameter', () => {
    expect(document.paths['/v1/runs/{id}/raw/{attempt}/{stream}']?.['get']).toMatchObject({
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'attempt', in: 'path', required: true },
        { name: 'stream', in: 'path', required: true },
      ],
    });
  });

  it('describes the path parameters', () => {
    expect(document.paths['/v1/triggers/{name}']?.['post']).toMatchObject({
      parameters: [{ name: 'name', description: "The trigger's name in the configuration.", example: 'github' }],
    });
  });

  it('describes every parameter, and every operation has a described tag', () => {
    const tags = new Set(document.tags.map(({ name }) => name));
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, ...(operation as DescribedOperation) })),
    );
    const undescribed = operations.flatMap(({ path, parameters }) =>
      parameters.filter(({ description = '' }) => description === '').map(({ name }) => `${path} ${name}`),
    );
    expect(undescribed).toEqual([]);
    expect(operations.filter((operation) => operation.tags.length !== 1 || !tags.has(operation.tags[0] ?? ''))).toEqual(
      [],
    );
  });

  it('names the schemas of all requests and responses, each schema once', () => {
    const text = JSON.stringify(document.paths);
    for (const schema of text.matchAll(/"application\/json":\{"schema":(\{.{0,30})/g)) {
      expect(schema[1]).toMatch(/^\{"\$ref":"#\/components\/schemas\//);
    }
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Run', 'RunRequest', 'RunResult', 'WorkRequest', 'InboxItem', 'Problem', 'Usage']),
    );
    expect(document.components.schemas['Run']).toMatchObject({
      properties: { spec: { $ref: '#/components/schemas/RunSpec' } },
    });
    expect(text.length).toBeLessThan(120_000);
  });

  it.each(endpoints)('%s has examples that match its schemas', (name, { body, response }) => {
    const parts = [
      ['request', body],
      ['response', response.schema],
    ] as const;
    for (const [part, schema] of parts) {
      if (schema === undefined) continue;
      const example = findExample(name as EndpointName, part, schema);
      const result = fromJsonSchema(schema)['~standard'].validate(example);
      expect([part, result]).toEqual([part, { value: example }]);
    }
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});

describe('the endpoint table', () => {
  it('has one endpoint per method and path', () => {
    const routes = endpoints.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it.each(endpoints)('%s has valid schemas', (_, { body, query = {}, response }) => {
    const schemas = [body, response.schema, ...Object.values(query)].filter((schema) => schema !== undefined);
    expect(() => schemas.map((schema) => fromJsonSchema(schema))).not.toThrow();
  });

  it('requires a scope for every change', () => {
    const open = endpoints
      .filter(([, { method, scope }]) => method === 'POST' && scope === 'none')
      .map(([name]) => name);
    // A trigger has a signature instead of a token; src/server/handlers/triggers.test.ts checks that nothing else is
    // accepted.
    expect(open).toEqual(['receiveTrigger', 'openSession', 'closeSession']);
  });
});
