import { join } from 'node:path';
import { WORK_RESULT_SCHEMA } from '../../records/index.js';
import type { RunSpec, WorkOrder } from '../../records/index.js';
import { agentEngineOf, OrdersError } from '../../orders/index.js';
import type { Wrapper } from '../../orders/index.js';
import { contextPackOf } from './context-pack.js';
import type { PackFile } from './context-pack.js';
import { renderPrompt } from './render-prompt.js';

/** Everything that is needed to start a worker on an order. */
export interface Injection {
  readonly spec: RunSpec;
  /** Variables the worker gets beside those that `spec.env` names. */
  readonly env: Readonly<Record<string, string>>;
  /** What must be in the run folder before it starts. */
  readonly files: readonly PackFile[];
}

/**
 * How a wrapper gives an order to its worker. `workDir` is where the work is done if that is not `repo_dir`: a worktree.
 *
 * @example
 * injectOrder({ type: 'script', command: ['node', 'worker.mjs'], inject: 'args' }, order, '/data/runs/01K…').spec.command
 * // ['node', 'worker.mjs', '/data/runs/01K…/work_order.json']
 */
export function injectOrder(
  wrapper: Wrapper,
  order: WorkOrder,
  runDir: string,
  workDir: string = order.repo_dir,
): Injection {
  const given = { ...order, repo_dir: workDir };
  const files = contextPackOf(given);
  const env = environmentOf(wrapper, given, runDir);
  const common = {
    workdir: workDir,
    mode: 'auto',
    env: [...(wrapper.env ?? []), ...Object.keys(env)],
    ...(wrapper.limits === undefined ? {} : { limits: wrapper.limits }),
  } as const;
  if (wrapper.command !== undefined) {
    const command = fillIn(wrapper.command, wrapper.inject ?? 'file', placeholdersOf(given, runDir));
    return { spec: { ...common, engine: 'command', command }, env, files };
  }
  const engine = agentEngineOf(wrapper.type);
  if (engine === undefined) {
    throw new OrdersError('INVALID_WRAPPERS', `A worker of type ${wrapper.type} needs a command in the configuration.`);
  }
  const spec: RunSpec = {
    ...common,
    engine,
    prompt: renderPrompt(given, runDir, files),
    contract: { schema: WORK_RESULT_SCHEMA, profile: 'tagged' },
    permissions: wrapper.permissions ?? 'workspace',
    ...(wrapper.model === undefined ? {} : { model: wrapper.model }),
  };
  return { spec, env, files };
}

function environmentOf(wrapper: Wrapper, order: WorkOrder, runDir: string): Readonly<Record<string, string>> {
  const base = {
    SLUICE_ISSUE_REF: order.issue_ref,
    SLUICE_RUN_ID: order.run_id,
    SLUICE_ROLE: order.role,
    SLUICE_RUN_DIR: runDir,
  };
  if (wrapper.inject !== 'env') return base;
  return {
    ...base,
    SLUICE_REPO_DIR: order.repo_dir,
    SLUICE_WORK_ORDER: join(runDir, 'work_order.json'),
    SLUICE_INSTRUCTIONS: order.instructions,
  };
}

function placeholdersOf(order: WorkOrder, runDir: string): ReadonlyMap<string, string> {
  return new Map([
    ['{work_order}', join(runDir, 'work_order.json')],
    ['{run_dir}', runDir],
    ['{repo_dir}', order.repo_dir],
    ['{issue_ref}', order.issue_ref],
    ['{run_id}', order.run_id],
    ['{role}', order.role],
  ]);
}

const PLACEHOLDER = /\{(?:work_order|run_dir|repo_dir|issue_ref|run_id|role)\}/g;

/** One pass: what was filled in is not looked at again. */
function fillIn(
  command: readonly string[],
  inject: NonNullable<Wrapper['inject']>,
  values: ReadonlyMap<string, string>,
): readonly string[] {
  const filled = command.map((word) => word.replaceAll(PLACEHOLDER, (name) => values.get(name) ?? name));
  const hasPlaceholder = command.some((word) => word.search(PLACEHOLDER) >= 0);
  const path = values.get('{work_order}') ?? '';
  return [...filled, ...(inject === 'args' && !hasPlaceholder ? [path] : [])];
}
