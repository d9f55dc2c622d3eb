/**
 * The allowed imports of one room of `src/`, of a subfolder with its own door (an `index.ts`), or of `web/`. Other
 * rooms import it through that door only.
 */
export interface Room {
  /** The rooms and doors whose code may be imported. */
  readonly imports: readonly string[];
  /** Those from which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages it may import; `'any'` at the edges. */
  readonly packages: readonly string[] | 'any';
  /** Must load in a browser: no Node.js modules. */
  readonly browserSafe?: boolean;
  /** Its files need different packages, which an index would load together, so each file is imported separately. */
  readonly hasNoIndex?: boolean;
}

/** The room that every other room may import: errors, ids, the logger, schema types. */
export const BASE_ROOM = 'base';

const BASE = [BASE_ROOM, 'base/files', 'base/threads'];
const STORE = ['store', 'store/ports', 'store/records'];
const RUNS = ['runs', 'runs/run-folder', 'runs/archive', 'runs/sandbox'];
/** Everything below the server. */
const CORE = [
  ...BASE,
  'json',
  'json/schema',
  'events',
  ...STORE,
  ...RUNS,
  'orders',
  'orders/placement',
  'orders/dispatch',
];
const SERVER = [
  'server/api',
  'server/client',
  'server/config',
  'server/mcp',
  'server/report',
  'server/suite',
  'server/tracing',
];

/** All rooms and doors, lowest first; `docs/architecture.md` has a diagram. */
export const ROOMS: Readonly<Record<string, Room>> = {
  base: { imports: [], packages: [], browserSafe: true },
  'base/files': { imports: ['base'], packages: [] },
  'base/threads': { imports: ['base'], packages: [] },
  json: { imports: ['base'], packages: [], browserSafe: true },
  'json/schema': { imports: ['base', 'json'], packages: ['@valibot/to-json-schema'], browserSafe: true },
  // Other libraries' interfaces are typed by their shape; a library is imported only to extend one of its classes.
  'json/adapters': {
    imports: ['base', 'json', 'json/schema'],
    packages: ['@langchain/core', 'react'],
    browserSafe: true,
    hasNoIndex: true,
  },
  events: { imports: ['base', 'json'], packages: [], browserSafe: true },
  'store/records': { imports: ['base', 'events'], types: ['json', 'json/schema'], packages: [], browserSafe: true },
  'store/ports': { imports: ['base', 'events', 'store/records'], packages: [] },
  store: { imports: [...BASE, 'events', 'store/ports', 'store/records'], packages: 'any' },
  'runs/sandbox': { imports: ['base', 'base/files'], packages: [] },
  'runs/run-folder': { imports: ['base', 'base/files', 'events'], packages: [] },
  'runs/archive': { imports: ['base', 'base/files', 'json/schema', 'runs/run-folder'], packages: ['aws4fetch'] },
  runs: {
    imports: [
      ...BASE,
      'json',
      'json/schema',
      'events',
      'store/ports',
      'store/records',
      'runs/run-folder',
      'runs/sandbox',
    ],
    packages: 'any',
  },
  // Presets and trials of agents: for commands that a user types, never for requests.
  'runs/agents': {
    imports: ['base', 'base/files', 'runs', 'runs/run-folder'],
    types: ['events', 'store/records'],
    packages: [],
  },
  orders: {
    imports: [
      ...BASE,
      'json',
      'json/schema',
      'store/ports',
      'store/records',
      'runs',
      'runs/run-folder',
      'runs/sandbox',
    ],
    types: ['events'],
    packages: 'any',
  },
  // Places that a server starts runs in, each in its own folder.
  'orders/placement': { imports: [...BASE, 'store/records', 'runs/sandbox'], types: ['events'], packages: 'any' },
  'orders/dispatch': { imports: [...BASE, ...STORE, ...RUNS, 'orders', 'orders/placement'], packages: 'any' },
  // Runs as human-readable documents: HTML and Markdown.
  'server/report': { imports: ['base', 'base/files', 'events', 'store/records', 'runs/run-folder'], packages: [] },
  // Recorded runs as test cases.
  'server/suite': {
    imports: [
      'base',
      'base/files',
      'json/schema',
      'store/records',
      'runs',
      'runs/run-folder',
      'orders',
      'orders/dispatch',
    ],
    types: ['json', 'store/ports'],
    packages: [],
  },
  // Spans for runs and orders; implements a port of `runs`.
  'server/tracing': {
    imports: ['base', 'base/files'],
    types: ['events', 'store/records', 'runs'],
    packages: ['@opentelemetry/api'],
  },
  'server/api': { imports: ['base', 'store/records'], types: ['json', 'events'], packages: [], browserSafe: true },
  'server/config': { imports: CORE, packages: 'any' },
  'server/client': {
    imports: ['base', 'server/api', 'store/records'],
    types: ['json', 'events'],
    packages: ['eventsource-parser'],
    browserSafe: true,
  },
  // Tools for other agents: all calls go through the client, to a server or to the store of this process.
  'server/mcp': {
    imports: ['base', 'base/files', 'json/schema', 'events', 'store/records', 'server/api', 'server/client'],
    packages: ['@modelcontextprotocol/server'],
  },
  // Sluice as an agent: an edge like the server, with the protocol's SDK.
  'server/acp': { imports: [...CORE, 'server/tracing'], packages: ['@agentclientprotocol/sdk'] },
  // A worker's ports over HTTPS.
  'server/worker': { imports: [...CORE, 'server/api'], packages: [] },
  server: { imports: [...CORE, ...SERVER], packages: 'any' },
  cli: { imports: [...CORE, 'runs/agents', ...SERVER, 'server', 'server/acp', 'server/worker'], packages: 'any' },
  // The libraries of the console are bundled into it.
  web: {
    imports: ['base', 'json', 'json/schema', 'store/records', 'server/client'],
    types: ['events', 'server/api'],
    packages: ['preact', '@preact/signals', 'jsonrepair'],
    browserSafe: true,
  },
  // The entries of the package: the public names, listed one by one.
  entries: { imports: [...CORE, 'server/client', 'server/tracing', 'json/adapters'], packages: [] },
};
