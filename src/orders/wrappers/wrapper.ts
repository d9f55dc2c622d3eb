import { WORKER_NAME, runSpecSchema } from '../../records/index.js';
import type { RunSpec } from '../../records/index.js';

/** How a kind of worker is given its order and started. Data only; it comes from the configuration, never from a request. */
export interface Wrapper {
  /** `codex-cli`, `script` or a name of your own: what limits and audit go by. */
  readonly type: string;
  /**
   * The program and its arguments, with `{work_order}`, `{run_dir}`, `{repo_dir}`, `{issue_ref}`, `{run_id}` and `{role}`
   * filled in. Agents (`codex-cli`, …) can do without: Sluice knows how to start them.
   */
  readonly command?: readonly string[];
  /**
   * `file` (default): the worker reads `work_order.json` in its run folder. `args`: its path is the last argument, unless
   * the command has a placeholder. `env`: instructions and places as variables too.
   */
  readonly inject?: 'file' | 'args' | 'env';
  /** What an agent may do; `workspace` by default. */
  readonly permissions?: NonNullable<RunSpec['permissions']>;
  readonly model?: string;
  readonly limits?: NonNullable<RunSpec['limits']>;
  /** Names of environment variables handed on. */
  readonly env?: readonly string[];
}

const { command, permissions, model, limits, env } = runSpecSchema.properties;

/** A wrapper of the configuration, as JSON Schema. */
export const WRAPPER_SCHEMA = {
  type: 'object',
  properties: {
    type: WORKER_NAME,
    command,
    inject: { enum: ['file', 'args', 'env'] },
    permissions,
    model,
    limits,
    env,
  },
  required: ['type'],
  additionalProperties: false,
} as const;
