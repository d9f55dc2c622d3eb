import type { RunSpec } from '../../records/index.js';
import type { SandboxFolders } from '../../sandbox/index.js';

/** Sandbox settings for runs whose spec has none. */
export interface SandboxPort extends SandboxFolders {
  /** `auto` by default. `required` cannot be lowered by a spec. */
  readonly use?: NonNullable<RunSpec['sandbox']>;
  /** The path of bubblewrap; by default `bwrap` in PATH. */
  readonly program?: string;
}

/**
 * Reads the operator's sandbox setting, which applies to all runs. An unknown value counts as `required`, so a typo
 * does not leave runs unprotected.
 */
export function readSandboxUse(): NonNullable<SandboxPort['use']> {
  const use = process.env['SLUICE_SANDBOX'];
  if (use === undefined || use === '' || use === 'auto') return 'auto';
  return use === 'off' ? 'off' : 'required';
}
