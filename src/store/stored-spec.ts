import type { RunSpec } from '../records/index.js';
import { StoreError } from './store-error.js';

/**
 * A spec as text. Schemas and normalizers that are code cannot be kept: for a run that already runs they are left out,
 * for a queued one, which another process would take up without them, that is an error.
 */
export function storeSpec(spec: RunSpec, state: 'queued' | 'running'): string {
  const { contract, ...rest } = spec;
  if (contract === undefined) return JSON.stringify(spec);
  const { schema, normalizers, ...plain } = contract;
  const isCode = schema !== undefined && (typeof schema === 'function' || '~standard' in schema);
  if (state === 'queued' && (isCode || (normalizers !== undefined && normalizers.length > 0))) {
    throw new StoreError(
      'SPEC_NOT_STORABLE',
      'a queued run is taken up by another process, so its contract must be a JSON Schema without normalizers; start the run in this process, or export the schema',
    );
  }
  return JSON.stringify({ ...rest, contract: { ...plain, ...(isCode || schema === undefined ? {} : { schema }) } });
}
