import type { RunSpec } from '../../records/index.js';
import type { SandboxFolders } from '../../sandbox/index.js';

/** How runs are sandboxed, where a spec does not say. */
export interface SandboxPort extends SandboxFolders {
  /** `auto` by default. `required` cannot be lowered by a spec. */
  readonly use?: NonNullable<RunSpec['sandbox']>;
  /** The program bubblewrap; `bwrap` on PATH by default. */
  readonly program?: string;
}

/** Reads the sandbox setting of the operator, which applies to all runs. A misspelled value must not leave them unprotected. */
export function readSandboxUse(): NonNullable<SandboxPort['use']> {
  const use = process.env['SLUICE_SANDBOX'];
  if (use === undefined || use === '' || use === 'auto') return 'auto';
  return use === 'off' ? 'off' : 'required';
}
