import { object, oneOf, type FromSchema } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { listPlacementIssues } from '../../runs/index.js';
import { PLACEMENT_FIELDS, WORKER_NAME, runSpecSchema } from '../../store/records/index.js';
import type { RunEngine, RunSpec } from '../../store/records/index.js';
import { OrdersError } from '../orders-error.js';
import { createValueProblem, readNamed } from '../shapes/check-shape.js';

const { command, permissions, sandbox, network, labels, model, limits, env, placement } = runSpecSchema.properties;
const { image, cpu, memory, gpu, service_account, secrets, node_selector, tolerations } = runSpecSchema.properties;
const place = { placement, image, cpu, memory, gpu, service_account, secrets, node_selector, tolerations };

/** The JSON Schema of a configured wrapper. */
export const WRAPPER_SCHEMA = object(
  {
    /**
     * `codex-cli`, `script` or a custom name. The `concurrency` setting limits orders by type; execution records contain
     * the type.
     */
    type: WORKER_NAME,
  },
  {
    /**
     * The executable and its arguments, with `{work_order}`, `{run_dir}`, `{repo_dir}`, `{issue_ref}`, `{run_id}` and
     * `{role}` replaced. Agents (`codex-cli`, …) do not need one: Sluice can start them itself.
     */
    command,
    /**
     * `file` (default): the agent reads `work_order.json` in its run folder. `args`: its path is the last argument, unless
     * `{work_order}` names it. `env`: instructions and paths are also passed as variables.
     */
    inject: oneOf(['file', 'args', 'env']),
    /** The agent's permissions; `workspace` by default. */
    permissions,
    /** Whether its runs are sandboxed; defaults to the global setting. */
    sandbox,
    network,
    ...place,
    labels,
    model,
    limits,
    env,
    /** Files and folders that its sandbox shows besides, read-only: what its script loads. */
    mounts: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1 } },
    /** Names of checks that Sluice runs for orders that name none. */
    checks: { type: 'array', maxItems: 20, uniqueItems: true, items: WORKER_NAME },
    /** The evidence an issue needs to advance: `proven` (default if checks are named) or `reported`. */
    policy: object({}, { evidence: oneOf(['proven', 'reported']) }),
  },
);

/**
 * Defines how one type of agent is started and receives its order, and where. Comes from the configuration, never from
 * a request.
 */
export type Wrapper = FromSchema<typeof WRAPPER_SCHEMA>;

/** The built-in wrapper types and their engines. A wrapper of a type with the engine `command` must name a command. */
export const WRAPPER_ENGINES: Readonly<Record<string, RunEngine>> = {
  'codex-cli': 'codex',
  'claude-code': 'claude',
  'gemini-cli': 'gemini',
  'opencode-cli': 'opencode',
  'qwen-code': 'qwen',
  'copilot-cli': 'copilot',
  'iflow-cli': 'iflow',
  'go-cli': 'command',
  script: 'command',
};

/** Returns the engine of an agent that Sluice can start itself, or undefined for types that need a command. */
export function findAgentEngine(type: string): RunEngine | undefined {
  const engine = Object.hasOwn(WRAPPER_ENGINES, type) ? WRAPPER_ENGINES[type] : undefined;
  return engine === 'command' ? undefined : engine;
}

/** Picks the fields that say where runs are executed. */
export function pickPlacement(from: Pick<RunSpec, (typeof PLACEMENT_FIELDS)[number]>): typeof from {
  return Object.fromEntries(
    PLACEMENT_FIELDS.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])),
  );
}

/** Wrappers, keyed by the name that orders use. */
export type Wrappers = Readonly<Record<string, Wrapper>>;

const wrapperSchema = fromRecordSchema<Wrapper>(WRAPPER_SCHEMA);

/**
 * Validates the configured wrappers. `placements` are those that they may name: with others, orders would wait forever.
 *
 * @example
 * readWrappers({ lint: { type: 'script', command: ['node', 'lint.mjs', '{work_order}'], inject: 'args' } })
 */
export function readWrappers(value: unknown, placements: readonly string[] = placement.enum): Wrappers {
  return readNamed(value, {
    setting: 'wrappers',
    expected: 'use an object that maps names to wrappers',
    schema: wrapperSchema,
    *findProblems(wrapper) {
      const { type, command: line } = wrapper;
      if (line === undefined && findAgentEngine(type) === undefined) {
        yield createValueProblem('command', `a wrapper of type "${type}" needs a command`);
      } else if (line?.[0]?.trim() === '') {
        yield createValueProblem('command', 'must start with an executable');
      } else {
        for (const { path, message } of listPlacementIssues(wrapper, placements))
          yield createValueProblem(path.join('.'), message);
      }
    },
  });
}

/** Finds a wrapper by name: a configured one, or the built-in one of an agent that Sluice can start itself. */
export function findWrapper(name: string, configured: Wrappers): Wrapper {
  const wrapper = Object.hasOwn(configured, name) ? configured[name] : undefined;
  if (wrapper !== undefined) return wrapper;
  if (findAgentEngine(name) !== undefined) return { type: name };
  const agents = Object.keys(WRAPPER_ENGINES).filter((type) => findAgentEngine(type) !== undefined);
  const names = [...new Set([...Object.keys(configured), ...agents])].join(', ');
  throw new OrdersError(
    'UNKNOWN_WORKER',
    `Unknown wrapper ${JSON.stringify(name.slice(0, 100))}. Use one of ${names}, or add it to the setting "wrappers".`,
  );
}
