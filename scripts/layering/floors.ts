/** What one folder of `src/`, or `web/`, may import, beside itself. */
export interface Floor {
  readonly imports: readonly string[];
  /** Floors of which only types may be imported. */
  readonly types?: readonly string[];
  /** Single files it may import besides. */
  readonly files?: readonly string[];
  /** Packages it may import; `'any'` at the edges. */
  readonly packages: readonly string[] | 'any';
  /** Must load in a browser: no module of Node.js. */
  readonly browserSafe?: boolean;
}

/** The base of all errors, and the code and the message of any other: every floor needs them, whatever else it may import. */
export const ERROR_FILES: readonly string[] = [
  'src/json/sluice-error.ts',
  'src/json/error-code.ts',
  'src/json/error-message.ts',
];

const CORE = ['json', 'json-schema', 'events', 'audit', 'runs', 'orders', 'store', 'dispatch'];

/** The house, from the ground up: `docs/architecture.md` draws it. */
export const FLOORS: Readonly<Record<string, Floor>> = {
  json: { imports: [], packages: [], browserSafe: true },
  'json-schema': { imports: ['json'], packages: ['ajv', '@valibot/to-json-schema'], browserSafe: true },
  events: { imports: ['json'], packages: [], browserSafe: true },
  audit: { imports: ['events'], packages: [] },
  runs: { imports: ['json', 'json-schema', 'events', 'audit'], packages: 'any' },
  orders: { imports: ['json', 'json-schema', 'runs'], types: ['events'], packages: 'any' },
  // Of a port that it implements: the types, and the rules that hold for every implementation.
  store: {
    imports: ['audit'],
    types: ['events', 'runs', 'orders'],
    // Rules that a store shares with the run folders: how a log is read, and how much a cache keeps.
    files: ['src/runs/cache/cache-limits.ts', 'src/runs/ports/event-range.ts'],
    packages: 'any',
  },
  dispatch: { imports: ['runs', 'orders', 'store'], packages: 'any' },
  // Of the floors below, the files that state a wire shape; they are plain data.
  api: { imports: ['events', 'runs', 'orders'], types: CORE, packages: [], browserSafe: true },
  config: { imports: CORE, packages: 'any' },
  server: { imports: [...CORE, 'api', 'config'], packages: 'any' },
  client: { imports: ['api', 'json'], types: CORE, packages: [], browserSafe: true },
  cli: { imports: [...CORE, 'api', 'config', 'server', 'client'], packages: 'any' },
  // The libraries of the page are bundled into it. Of the shapes below it, types alone.
  web: {
    imports: ['json', 'json-schema', 'client'],
    types: [...CORE, 'api'],
    packages: ['preact', '@preact/signals', 'uplot'],
    browserSafe: true,
  },
  /** `src/index.ts`, the root entry. */
  '': { imports: ['json'], packages: [], browserSafe: true },
};
