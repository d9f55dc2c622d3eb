import { join } from 'node:path';
import { rm, utimes } from 'node:fs/promises';
import { makeFolder, readSmallFile, replaceFile, VERSION, openForReading, readChunks } from '../../base/files/index.js';
import {
  CACHE_LIMITS,
  formatCacheEntry,
  parseCacheEntry,
  type CacheLimits,
  type ResultCache,
} from '../../store/ports/index.js';
import { createHash } from 'node:crypto';
import { evictOldest } from './evict-oldest.js';
import { toJsonSchema } from '../spec/contract-schema.js';
import { selectPublicVariables } from '../secrets/environment.js';
import type { ApprovalRule, RunSpec } from '../../store/records/index.js';
import type { AgentSettings } from '../launchers/acp.js';

const SUFFIX = '.result';

/** Caches results in `<data>/cache` for all processes that share it. An unreadable entry is a miss. */
export function createFileResultCache(data: string, limits: CacheLimits = {}): ResultCache {
  const max = { ...CACHE_LIMITS, ...limits };
  const folder = join(data, 'cache');

  /** A key is a hash; anything else must not become a path. */
  const getPath = (key: string): string | undefined =>
    /^[0-9a-f]{64}$/.test(key) ? join(folder, `${key}${SUFFIX}`) : undefined;

  return {
    async find(key) {
      const path = getPath(key);
      if (path === undefined) return undefined;
      const text = await readSmallFile(path, max.bytes).catch(() => undefined);
      const entry = text === undefined ? undefined : parseCacheEntry(key, text);
      if (entry !== undefined) await utimes(path, new Date(), new Date()).catch(() => undefined);
      else if (text !== undefined) await rm(path, { force: true });
      return entry;
    },
    async cacheResult(key, entry) {
      const path = getPath(key);
      const text = formatCacheEntry(key, entry);
      if (path === undefined) return;
      if (Buffer.byteLength(text) > max.bytes) {
        // Too large to be cached, and the old entry is out of date.
        await rm(path, { force: true });
        return;
      }
      await makeFolder(folder);
      await replaceFile(path, text);
      await evictOldest(folder, { files: max.entries, bytes: max.bytes }, path);
    },
  };
}

/**
 * Caches results in memory; the least recently used is evicted first.
 *
 * @example
 * const run = startRun({ ...spec, cache: true, input_files: [] }, { data, cache: createMemoryResultCache() })
 */
export function createMemoryResultCache(limits: CacheLimits = {}): ResultCache {
  const max = { ...CACHE_LIMITS, ...limits };
  // Stored as JSON, so a caller cannot mutate a cached result.
  const entries = new Map<string, { readonly text: string; readonly size: number }>();
  let bytes = 0;

  function evict(key: string): void {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  return {
    async find(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return parseCacheEntry(key, entry.text);
    },
    async cacheResult(key, entry) {
      const text = formatCacheEntry(key, entry);
      const size = Buffer.byteLength(text);
      evict(key);
      if (size > max.bytes) return;
      entries.set(key, { text, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= max.entries && bytes <= max.bytes) break;
        evict(oldest);
      }
    },
  };
}

interface CacheKeyContext {
  readonly engineVersion?: string | undefined;
  /** The engine's entry in the configuration, if it was added there. */
  readonly agent?: AgentSettings | undefined;
  /** Approval rules from the configuration, which precede the spec's own. */
  readonly approvals?: readonly ApprovalRule[];
  /** The environment for looking up variables named by the spec. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Computes a result's key from everything the caller controls that can change the answer. It excludes folders, limits,
 * secrets, and environment variables that the spec does not name.
 */
export async function computeCacheKey(
  spec: RunSpec,
  { engineVersion, agent, approvals = [], environment = {} }: CacheKeyContext = {},
): Promise<string> {
  const { contract } = spec;
  const inputs: [string, string | null][] = [];
  for (const path of (spec.input_files ?? []).toSorted()) inputs.push([path, await hashFile(join(spec.workdir, path))]);
  const parts = {
    sluice: VERSION,
    engine: spec.engine,
    agent: agent ?? null,
    engine_version: engineVersion ?? null,
    model: spec.model ?? null,
    command: spec.command ?? null,
    format: spec.format ?? null,
    prompt: spec.prompt ?? null,
    inputs,
    contract:
      contract === undefined
        ? null
        : {
            schema: toJsonSchema(contract.schema) ?? null,
            profile: contract.profile ?? 'default',
            allow_partial: contract.allow_partial ?? false,
            align: contract.align ?? false,
            thinking: contract.thinking ?? true,
          },
    mode: spec.mode ?? 'auto',
    permissions: spec.permissions ?? 'safe',
    // Rules have no effect on other permissions.
    approvals: spec.permissions === 'ask' ? [...approvals, ...(spec.approvals ?? [])] : [],
    variables: selectPublicVariables(spec.env ?? [], environment),
    terminal: spec.terminal ?? false,
    network: spec.network ?? 'host',
  };
  return createHash('sha256').update(toCanonicalJson(parts)).digest('hex');
}

/** Formats JSON with sorted keys, because key order in a schema does not matter. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** Hashes a file's content; null if the file does not exist. Throws if the path is a link. */
async function hashFile(path: string): Promise<string | null> {
  const handle = await openForReading(path);
  if (handle === undefined) return null;
  const hash = createHash('sha256');
  try {
    for await (const chunk of readChunks(handle)) hash.update(chunk);
  } finally {
    await handle.close();
  }
  return hash.digest('hex');
}
