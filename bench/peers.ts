import { createRequire } from 'node:module';
import { makeBamlReader } from './baml.js';

/** Another library with a common interface. */
export interface Peer {
  readonly name: string;
  /** Returns a value or a promise of one, or throws. */
  readonly read: (text: string) => unknown;
  /** The timed function: for a library that repairs text, without the following `JSON.parse`. */
  readonly run: (text: string) => unknown;
}

type Call = (...args: unknown[]) => unknown;

/** Names of the peers, with their packages. */
const PACKAGES: Readonly<Record<string, string>> = {
  jsonrepair: 'jsonrepair',
  'llm-json-repair': 'llm-json-repair',
  'partial-json': 'partial-json',
  'best-effort': 'best-effort-json-parser',
  json5: 'json5',
  'AI SDK': 'ai',
  BAML: '@boundaryml/baml',
};

/** Loads a package without types: the types of the peers are not installed with the project's own dependencies. */
export async function loadModule(name: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(name)) as Readonly<Record<string, unknown>>;
}

/** Reads the version of an installed package from its manifest. */
export function readVersion(name: string): string {
  const found = createRequire(import.meta.url).resolve.paths(name)?.[0] ?? '';
  const manifest: unknown = createRequire(import.meta.url)(`${found}/${name}/package.json`);
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}

/** Lists the peers that can be loaded here: BAML is a native module, which is not published for every platform. */
export async function listAvailablePeers(): Promise<string[]> {
  const names: string[] = [];
  for (const [name, package_] of Object.entries(PACKAGES)) {
    try {
      await loadModule(package_);
      names.push(name);
    } catch {
      console.error(`${name} cannot be loaded on ${process.platform} ${process.arch} and is skipped.`);
    }
  }
  return names;
}

/** Loads peers by name, in the order given. */
export async function loadPeers(names: readonly string[]): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const name of names) peers.push(await loadPeer(name));
  return peers;
}

async function loadPeer(name: string): Promise<Peer> {
  const exported = await loadModule(PACKAGES[name] ?? name);
  if (name === 'jsonrepair') {
    const run = requireFunction(exported['jsonrepair']);
    return { name, read: (text) => JSON.parse(String(run(text))) as unknown, run };
  }
  const read = createReader(name, exported);
  return { name, read, run: read };
}

function createReader(name: string, exported: Readonly<Record<string, unknown>>): Peer['read'] {
  switch (name) {
    case 'llm-json-repair':
      return requireFunction(exported['repairJsonOrThrow']);
    case 'partial-json':
      return requireFunction(exported['parse']);
    case 'best-effort':
      requireFunction(exported['disableErrorLogging'])();
      return requireFunction(exported['parse']);
    case 'json5': {
      const { parse } = exported['default'] as Readonly<Record<string, unknown>>;
      return requireFunction(parse);
    }
    case 'AI SDK': {
      const parsePartialJson = requireFunction(exported['parsePartialJson']);
      return async (text) => {
        const { value } = (await parsePartialJson(text)) as { readonly value: unknown };
        if (value === undefined) throw new Error('no value');
        return value;
      };
    }
    case 'BAML':
      return makeBamlReader(exported);
    default:
      throw new Error(`Unknown peer: ${name}.`);
  }
}

/** Checks that an export is a function. */
export function requireFunction(value: unknown): Call {
  if (typeof value !== 'function') throw new TypeError('The peer no longer exports this function.');
  return (...args) => Reflect.apply(value, undefined, args) as unknown;
}
