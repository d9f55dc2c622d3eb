import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { VERSION, openForReading } from '../../files/index.js';
import { toJsonSchema } from '../spec/contract-schema.js';
import type { RunSpec } from '../../records/index.js';
import type { AgentSettings } from '../launchers/acp.js';

/**
 * Computes the key of a result. Folders, limits, environment variables and approval rules are not part of it.
 */
export async function computeCacheKey(
  spec: RunSpec,
  engineVersion: string | undefined,
  /** The engine's entry in the configuration, if it was added there. */
  agent?: AgentSettings,
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
    reads: spec.reads ?? null,
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
          },
    mode: spec.mode ?? 'auto',
    permissions: spec.permissions ?? 'safe',
    terminal: spec.terminal ?? false,
    network: spec.network ?? 'host',
  };
  return createHash('sha256').update(toCanonicalJson(parts)).digest('hex');
}

/** Formats JSON with sorted keys: the order of keys in a schema does not matter. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** Returns the hash of a file's content; null if it does not exist. Throws if the path is a link. */
async function hashFile(path: string): Promise<string | null> {
  const handle = await openForReading(path);
  if (handle === undefined) return null;
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream()) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
