import type { Endpoint } from '../endpoint.js';
import type { AnySchema } from './named-schemas.js';

/** Names of the resources whose ids are in paths, by the path segment before the id. */
const THINGS: Readonly<Record<string, string>> = {
  runs: 'the run',
  inbox: 'the inbox item',
  outbox: 'the comment',
  issues: 'the issue',
};

/** Names in paths that mean the same everywhere. */
const IN_PATHS: Readonly<Record<string, { readonly description: string; readonly example: string }>> = {
  ref: { description: 'The reference of the issue, percent-encoded.', example: 'acme/shop#12' },
  attempt: { description: 'The number of the attempt, from 1.', example: '1' },
  stream: { description: 'The stream: stdout, stderr, pty or stdin.', example: 'stdout' },
};

/** Names in queries that mean the same everywhere; a description in the table of endpoints comes first. */
const IN_QUERIES: Readonly<Record<string, string>> = {
  after: 'The position of the last event received; the stream continues after it.',
  decision: 'Only with this decision.',
  engine: 'Only entries of this engine.',
  engine_version: 'Only entries of this engine version.',
  format: 'The format of the export; csv by default.',
  from: 'The position of the first event; the beginning by default.',
  issue_ref: 'Only entries of this issue.',
  limit: 'Maximum number of entries.',
  model: 'Only entries of this model.',
  name: 'The name of the file, from the list of files.',
  outcome: 'Only runs with this outcome.',
  path: 'The path of the file, from the list of files.',
  repair_level: 'Only runs whose answer was repaired to this level.',
  run_id: 'Only entries of this order.',
  state: 'Only in this state.',
  to: 'The position of the last event; the end by default.',
  worker: 'Only entries of this worker.',
};

/** The parameters of an endpoint, each with what it means. */
export function describeParameters({ path, query = {} }: Endpoint, refer: (schema: object) => AnySchema): object[] {
  const inPath = [...path.matchAll(/(?:(\w+)\/)?\{(\w+)\}/g)].map(([, before = '', name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(IN_PATHS[name] ?? {
      description: `The ${name} of ${THINGS[before] ?? before}.`,
      example: '01K9ZC4QZ8D1V1Y3M0S7G2T5XA',
    }),
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const { description = IN_QUERIES[name], ...plain } = schema;
    return {
      name,
      in: 'query',
      required: false,
      ...(description === undefined ? {} : { description }),
      schema: refer(plain),
    };
  });
  return [...inPath, ...inQuery];
}
