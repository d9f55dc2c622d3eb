import type { Endpoint } from '../endpoint.js';
import type { AnySchema } from './named-schemas.js';

/** Resource names, by the path segment before the id. */
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

/** Describes an endpoint's parameters. */
export function describeParameters(
  { path, query = {} }: Endpoint,
  toReference: (schema: object) => AnySchema,
): object[] {
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
