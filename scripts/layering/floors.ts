/**
 * The allowed imports of one folder of `src/`, or of `web/`, from other folders, which are imported only through their
 * `index.ts`.
 */
export interface Floor {
  readonly imports: readonly string[];
  /** Floors from which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages it may import; `'any'` at the edges. */
  readonly packages: readonly string[] | 'any';
  /** Must load in a browser: no Node.js modules. */
  readonly browserSafe?: boolean;
  /** Its files need different packages, which an index would load together, so each file is imported separately. */
  readonly hasNoIndex?: boolean;
}

/** The floor that every other floor may import: errors, ids, the logger, schema types. */
export const BASE_FLOOR = 'base';

const CORE = [
  BASE_FLOOR,
  'files',
  'threads',
  'sandbox',
  'json',
  'json-schema',
  'events',
  'records',
  'run-folder',
  'archive',
  'runs',
  'orders',
  'store',
  'dispatch',
  'tracing',
];

/** All floors, lowest first; `docs/architecture.md` has a diagram. */
export const FLOORS: Readonly<Record<string, Floor>> = {
  base: { imports: [], packages: [], browserSafe: true },
  files: { imports: [BASE_FLOOR], packages: [] },
  threads: { imports: [BASE_FLOOR], packages: [] },
  sandbox: { imports: [BASE_FLOOR, 'files'], packages: [] },
  json: { imports: [BASE_FLOOR], packages: [], browserSafe: true },
  'json-schema': { imports: [BASE_FLOOR, 'json'], packages: ['ajv', '@valibot/to-json-schema'], browserSafe: true },
  events: { imports: [BASE_FLOOR, 'json'], packages: [], browserSafe: true },
  records: { imports: [BASE_FLOOR, 'events'], types: ['json', 'json-schema'], packages: [], browserSafe: true },
  'run-folder': { imports: [BASE_FLOOR, 'files', 'events'], packages: [] },
  archive: { imports: [BASE_FLOOR, 'files', 'run-folder'], packages: ['aws4fetch'] },
  runs: {
    imports: [BASE_FLOOR, 'files', 'sandbox', 'json', 'json-schema', 'events', 'records', 'run-folder'],
    packages: 'any',
  },
  orders: {
    imports: [BASE_FLOOR, 'files', 'sandbox', 'json', 'json-schema', 'records', 'run-folder', 'runs'],
    types: ['events'],
    packages: 'any',
  },
  // Imports the types of the ports it implements, and the rules that apply to every implementation.
  store: { imports: [BASE_FLOOR, 'files', 'threads', 'events', 'records', 'runs'], types: ['orders'], packages: 'any' },
  dispatch: {
    imports: [BASE_FLOOR, 'files', 'archive', 'records', 'run-folder', 'runs', 'orders', 'store'],
    packages: 'any',
  },
  // Runs as human-readable documents: HTML and Markdown.
  report: { imports: [BASE_FLOOR, 'files', 'events', 'records', 'run-folder'], packages: [] },
  // Recorded runs as test cases.
  suite: {
    imports: [BASE_FLOOR, 'files', 'json-schema', 'records', 'run-folder', 'runs', 'orders', 'dispatch'],
    types: ['json'],
    packages: [],
  },
  // Spans for runs and orders; implements a port of `runs`.
  tracing: {
    imports: [BASE_FLOOR, 'files'],
    types: ['events', 'records', 'runs'],
    packages: ['@opentelemetry/api'],
  },
  api: { imports: [BASE_FLOOR, 'records'], types: ['json', 'events'], packages: [], browserSafe: true },
  config: { imports: CORE, packages: 'any' },
  server: { imports: [...CORE, 'api', 'config', 'report', 'suite', 'client', 'mcp'], packages: 'any' },
  // Sluice as an agent: an edge like the server, with the protocol's own SDK.
  acp: { imports: CORE, packages: ['@agentclientprotocol/sdk'] },
  client: {
    imports: [BASE_FLOOR, 'api', 'records'],
    types: ['json', 'events'],
    packages: ['eventsource-parser'],
    browserSafe: true,
  },
  // Tools for other agents: all calls go through the client, to a server or to the store of this process.
  mcp: {
    imports: [BASE_FLOOR, 'files', 'json-schema', 'events', 'records', 'api', 'client'],
    packages: ['@modelcontextprotocol/server'],
  },
  cli: { imports: [...CORE, 'acp', 'mcp', 'api', 'config', 'server', 'client', 'report', 'suite'], packages: 'any' },
  // The libraries of the console are bundled into it.
  web: {
    imports: [BASE_FLOOR, 'json', 'json-schema', 'records', 'client'],
    types: ['events', 'api'],
    packages: ['preact', '@preact/signals', 'jsonrepair'],
    browserSafe: true,
  },
  // Other libraries' interfaces are typed by their shape; a library is imported only to extend one of its classes.
  adapters: {
    imports: [BASE_FLOOR, 'json', 'json-schema'],
    packages: ['@langchain/core', 'react'],
    browserSafe: true,
    hasNoIndex: true,
  },
  // The entries of the package: the public names, listed one by one.
  entries: { imports: [...CORE, 'client', 'adapters'], packages: [] },
};
