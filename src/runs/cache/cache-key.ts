import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { VERSION, openForReading } from '../../base/files/index.js';
import { toJsonSchema } from '../spec/contract-schema.js';
import { selectPublicVariables } from '../secrets/environment.js';
import type { ApprovalRule, RunSpec } from '../../store/records/index.js';
import type { AgentSettings } from '../launchers/acp.js';

/** The inputs to a cache key that are not in the spec. */
export interface CacheKeyContext {
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
  for await (const chunk of handle.createReadStream()) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
