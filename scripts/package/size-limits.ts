/** The limits of an entry of the package. */
export interface EntryLimit {
  /** `sluice/json` is `json`; the root is `index`. */
  readonly entry: string;
  /** Measures only what an import of these names loads. */
  readonly names?: readonly string[];
  /** Bytes of its code, minified and gzipped; packages it depends on are not counted, unless a page loads them with it. */
  readonly bytes: number;
  /** The goal, if it is lower than the limit. */
  readonly goal?: number;
  /** Whether a page can load it: then it must not need Node.js. */
  readonly isForPages?: boolean;
  /** The import time in Node.js, as a multiple of starting Node.js. */
  readonly import: number;
}

/**
 * Every entry of the package has a limit: a test compares the list with `exports` of package.json. Limits of
 * `sluice/json` are the current sizes (docs/decisions/2026-11-15-size-of-json.md); the others are a tenth above the
 * measured sizes. Import limits are about twice the time measured on an idle host, because it varies.
 */
export const ENTRY_LIMITS: readonly EntryLimit[] = [
  { entry: 'json', bytes: 31_000, goal: 22_000, isForPages: true, import: 0.7 },
  { entry: 'json', names: ['parse'], bytes: 25_270, goal: 18_000, isForPages: true, import: 0.7 },
  { entry: 'json-schema', bytes: 61_530, isForPages: true, import: 3 },
  { entry: 'events', bytes: 87_900, isForPages: true, import: 1.5 },
  { entry: 'client', bytes: 19_040, isForPages: true, import: 1.5 },
  { entry: 'tool-calls', bytes: 29_480, isForPages: true, import: 0.8 },
  { entry: 'ai-sdk', bytes: 63_580, isForPages: true, import: 2.5 },
  { entry: 'langchain', bytes: 33_540, isForPages: true, import: 9 },
  { entry: 'react', bytes: 29_330, isForPages: true, import: 2 },
  { entry: 'index', bytes: 32_120, import: 1 },
  { entry: 'run-folder', bytes: 96_300, import: 2 },
  { entry: 'runs', bytes: 208_500, import: 6 },
  { entry: 'store', bytes: 53_300, import: 6.5 },
  { entry: 'orders', bytes: 81_600, import: 10 },
  { entry: 'dispatch', bytes: 257_100, import: 12 },
];

/**
 * Bytes on disk after `npm install`, dependencies included, and files of the package. Most of `sluice` is SQLite for
 * every platform, so the embedded default works out of the box; the parser alone is the package `sluice-json`.
 */
export const INSTALL_LIMITS = {
  sluice: { bytes: 40_000_000, files: Infinity },
  'sluice-json': { bytes: 581_000, files: 20 },
} as const;
