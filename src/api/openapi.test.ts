import { describe, expect, it } from 'vitest';
import { fromJsonSchema } from '../json-schema/index.js';
import type { Endpoint } from './endpoint.js';
import { ENDPOINTS } from './endpoints.js';
import { createOpenApi } from './openapi.js';

const all = Object.entries<Endpoint>(ENDPOINTS);

describe('the OpenAPI document', () => {
  const document = createOpenApi('1.2.3');

  it('names every endpoint once', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map((operation) => String(Reflect.get(operation, 'operationId')));
    expect(ids.toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
  });

  it('declares every parameter of a path', () => {
    expect(document.paths['/v1/runs/{id}/raw/{attempt}/{stream}']?.['get']).toMatchObject({
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'attempt', in: 'path', required: true },
        { name: 'stream', in: 'path', required: true },
      ],
    });
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});

describe('the table of endpoints', () => {
  it('has one endpoint for a method and a path', () => {
    const routes = all.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it.each(all)('%s has schemas that can be checked', (_, { body, query = {}, answer }) => {
    const schemas = [body, answer.schema, ...Object.values(query)].filter((schema) => schema !== undefined);
    expect(() => schemas.map((schema) => fromJsonSchema(schema))).not.toThrow();
  });

  it('requires a scope for every change', () => {
    const open = all.filter(([, { method, scope }]) => method === 'POST' && scope === 'none').map(([name]) => name);
    expect(open).toEqual(['openSession', 'closeSession']);
  });
});
