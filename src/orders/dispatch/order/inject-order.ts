import { omitUndefined } from '../../../base/index.js';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { OrdersError } from '../../orders-error.js';
import { findAgentEngine, pickPlacement, type Wrapper } from '../../wrappers/wrappers.js';
import { WORK_RESULT_SCHEMA, type RunSpec, type WorkOrder } from '../../../store/records/index.js';
import type { SandboxPort } from '../../../runs/index.js';

/** Everything needed to start an agent on an order. */
export interface Injection {
  readonly spec: RunSpec;
  /** Variables for the agent, besides those named in `spec.env`. */
  readonly env: Readonly<Record<string, string>>;
  /** Files to create in the run folder before the agent starts. */
  readonly files: readonly PackFile[];
  /** The files that the wrapper's command and `mounts` name. */
  readonly sandbox: Required<Pick<SandboxPort, 'configured' | 'read' | 'mountsSetting'>> & Pick<SandboxPort, 'commits'>;
}

/**
 * Prepares everything that a wrapper passes to its agent. `workDir` is the working folder if it is not `repo_dir`: a
 * worktree.
 */
export function injectOrder(
  wrapper: Wrapper,
  order: WorkOrder,
  runDir: string,
  workDir: string = order.repo_dir,
): Injection {
  const isWorktree = workDir !== order.repo_dir;
  const workerOrder = { ...order, repo_dir: workDir };
  const files = listContextPack(workerOrder);
  const env = createEnvironment(wrapper, workerOrder, runDir);
  const mountsSetting = `wrappers.${order.worker}.mounts`;
  const sandbox = { configured: [], read: wrapper.mounts ?? [], mountsSetting };
  const common = {
    workdir: workDir,
    mode: 'auto',
    env: [...(wrapper.env ?? []), ...Object.keys(env)],
    ...omitUndefined({ limits: wrapper.limits, sandbox: wrapper.sandbox, network: wrapper.network }),
    ...pickPlacement(wrapper),
    ...omitUndefined({ labels: wrapper.labels }),
  } as const;
  if (wrapper.command !== undefined) {
    // The files of a repository with a URL exist only in the worktree.
    const located = order.repo === undefined ? resolveScript(wrapper.command, order.repo_dir) : wrapper.command;
    const command = fillPlaceholders(located, wrapper.inject, workerOrder, runDir);
    const spec = { ...common, engine: 'command', command };
    return { spec, env, files, sandbox: { ...sandbox, configured: located } };
  }
  const engine = findAgentEngine(wrapper.type);
  if (engine === undefined) {
    throw new OrdersError(
      'INVALID_CONFIG',
      `A wrapper of type "${wrapper.type}" needs a command. Add "command" to it in the setting "wrappers".`,
    );
  }
  const spec: RunSpec = {
    ...common,
    engine,
    prompt: renderPrompt(workerOrder, runDir, files, isWorktree),
    contract: { schema: WORK_RESULT_SCHEMA, profile: 'tagged' },
    permissions: wrapper.permissions ?? 'workspace',
    ...omitUndefined({ model: wrapper.model }),
  };
  return { spec, env, files, sandbox };
}

const INTERPRETERS = /^(?:(?:ba|da|k|z)?sh|node|bun|tsx|python\d?(?:\.\d+)?|ruby|perl|php)(?:\.exe)?$/;

/**
 * Resolves a relative program, or the relative script of an interpreter, against `repo_dir`. A worktree is another
 * folder and has only committed files, so the same command would otherwise start another file, or none.
 */
function resolveScript([program = '', script, ...others]: readonly string[], repoDir: string): readonly string[] {
  const isRelativePath = /[/\\]/.test(program) && !isAbsolute(program) && !program.startsWith('{');
  const located = isRelativePath ? resolve(repoDir, program) : program;
  if (script === undefined) return [located];
  const isScript = INTERPRETERS.test(basename(program)) && /^[^-{].*(?:[/\\]|\.\w+$)/.test(script);
  return [located, isScript ? resolve(repoDir, script) : script, ...others];
}

function createEnvironment(wrapper: Wrapper, order: WorkOrder, runDir: string): Readonly<Record<string, string>> {
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

/** Replaces placeholders in one pass: inserted values are not searched for placeholders. */
function fillPlaceholders(command: readonly string[], inject: Wrapper['inject'], order: WorkOrder, runDir: string) {
  const { repo_dir, issue_ref, run_id, role } = order;
  const work_order = join(runDir, 'work_order.json');
  const values = new Map(Object.entries({ work_order, run_dir: runDir, repo_dir, issue_ref, run_id, role }));
  const filled = command.map((argument) =>
    argument.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values.get(name) ?? placeholder),
  );
  const isNamed = command.some((argument) => argument.includes('{work_order}'));
  return [...filled, ...(inject === 'args' && !isNamed ? [work_order] : [])];
}

/** A file for the run folder; its path is relative to that folder. */
export interface PackFile {
  readonly path: string;
  readonly text: string;
}

/** Lists the files for an order's run folder: the order and any attachments. */
function listContextPack(order: WorkOrder): readonly PackFile[] {
  const links = [
    ...(order.spec_ref === undefined ? [] : [`Specification: ${order.spec_ref}`]),
    ...(order.contracts_ref === undefined ? [] : [`Contracts: ${order.contracts_ref}`]),
    ...(order.depends_on ?? []).map((issue) => `Depends on: ${issue}`),
    ...(order.links ?? []),
  ];
  return [
    { path: 'work_order.json', text: `${JSON.stringify(order, null, 2)}\n` },
    ...(order.spec_snapshot === undefined ? [] : [{ path: 'spec_snapshot.md', text: order.spec_snapshot }]),
    ...toListFile('constraints.md', order.constraints ?? []),
    ...toListFile('links.md', links),
  ];
}

function toListFile(path: string, entries: readonly string[]): readonly PackFile[] {
  if (entries.length === 0) return [];
  return [{ path, text: `${entries.map((entry) => `- ${entry.replaceAll('\n', '\n  ')}`).join('\n')}\n` }];
}

/** Renders an agent's prompt: its order, the paths of its files, and how to report. */
function renderPrompt(order: WorkOrder, runDir: string, pack: readonly PackFile[], isWorktree: boolean): string {
  const files = pack.map(({ path }) => `- ${join(runDir, path)}`).join('\n');
  const paths = order.paths === undefined ? '' : `\n- Change nothing but: ${order.paths.join(', ')}.`;
  return `Execute one work order, in the role ${order.role}, in the repository ${order.repo_dir}.

Issue: ${order.issue_ref}
Run: ${order.run_id}
${order.instructions === '' ? '' : `\n## Instructions\n\n${order.instructions}\n`}
## Files of the order

${files}

Read them before you begin, and respect the constraints, if there are any.

## Report

Your report is one JSON object, the work result. Its issue_ref is ${JSON.stringify(order.issue_ref)} and its run_id is ${JSON.stringify(order.run_id)}.
- status is ok if the work is done, fail if it could not be done, blocked if somebody else must do something first.
- ${describeChanges(order, isWorktree)} the command you ran and its result (pass, fail or n/a), or "n/a" if there are none.${paths}
- Report only what you did: commits are looked up, and a report that claims more than was done is refused.

Write it to ${join(runDir, 'work_result.json')} as your last step. Your last message ends with the same object; it counts if the file cannot be written.`;
}

function describeChanges({ expects }: WorkOrder, isWorktree: boolean): string {
  if (expects === 'report') return 'Nothing needs to be committed: changes is {}. ok and fail need tests:';
  if (!isWorktree) return 'ok and fail need the pull request or the commit you made in changes, and tests:';
  return 'Leave your changes in this folder: they are committed for you when you end, and changes is {}. If you commit yourself, name the commit in changes. ok and fail need tests:';
}
