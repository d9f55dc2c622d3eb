import type { FromSchema } from '../../base/index.js';
import { fromJsonSchema } from '../../json-schema/index.js';
import { sandboxUse, WORKER_NAME } from '../../records/index.js';
import type { Problem, WorkOrder } from '../../records/index.js';
import { OrdersError, refuse } from '../orders-error.js';
import { checkShape, invalidValue } from '../shapes/check-shape.js';
import type { Wrapper } from '../wrappers/wrappers.js';

const words = {
  type: 'array',
  minItems: 1,
  maxItems: 4096,
  items: { type: 'string', pattern: '^[^\\u0000]*$' },
} as const;

/** A check of the configuration, as JSON Schema. */
export const CHECK_SCHEMA = {
  type: 'object',
  properties: {
    /** The program and its arguments; started without a shell. */
    command: words,
    /** A command to run first, such as `npm ci`; it may use the network. */
    prepare: words,
    /** How long either of them may take; 600 by default. */
    timeout_s: { type: 'number', exclusiveMinimum: 0, maximum: 86_400 },
    /** Whether the check may use the network; `none` by default. */
    network: { enum: ['none', 'host'] },
    /** Whether it runs in a sandbox, which closes the network: `auto` (default) where one can be made, `required`, `off`. */
    sandbox: sandboxUse,
    /** How often a check that fails is tried at most; 1 by default. */
    tries: { type: 'integer', minimum: 1, maximum: 10 },
  },
  required: ['command'],
  additionalProperties: false,
} as const;

/** A command of the configuration by which Sluice itself checks a change. */
export type Check = FromSchema<typeof CHECK_SCHEMA>;

/** Checks by the name that orders and wrappers use. */
export type Checks = Readonly<Record<string, Check>>;

const checkSchema = fromJsonSchema<Check>(CHECK_SCHEMA);
const namePattern = new RegExp(WORKER_NAME.pattern);

/**
 * Checks the checks of a configuration.
 *
 * @example
 * readChecks({ unit: { command: ['npm', 'test'], prepare: ['npm', 'ci'], timeout_s: 300 } })
 */
export function readChecks(value: unknown): Checks {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse('INVALID_CHECKS', 'checks in the configuration', [
      invalidValue('', 'write an object with a check for each name'),
    ]);
  }
  const problems: Problem[] = [];
  const checks: [string, Check][] = [];
  for (const [name, given] of Object.entries(value)) {
    const checked = checkShape(checkSchema, given);
    if (name.length > WORKER_NAME.maxLength || !namePattern.test(name)) {
      problems.push(invalidValue(name, 'use letters, digits, points, - and _ for a name'));
    } else if (checked.problems !== undefined) {
      problems.push(
        ...checked.problems.map((one) => ({ ...one, path: one.path === undefined ? name : `${name}.${one.path}` })),
      );
    } else if ([checked.value.command, checked.value.prepare].some((command) => command?.[0]?.trim() === '')) {
      problems.push(invalidValue(`${name}.command`, 'it must begin with a program'));
    } else checks.push([name, checked.value]);
  }
  if (problems.length > 0) throw refuse('INVALID_CHECKS', 'checks in the configuration', problems);
  return Object.fromEntries(checks);
}

/** A check that an order names. */
export interface NamedCheck extends Check {
  readonly name: string;
}

/**
 * The checks of an order: those it names, else those of its wrapper.
 *
 * @example
 * findChecks(order, wrapper, { unit: { command: ['npm', 'test'] } }) // [{ name: 'unit', command: ['npm', 'test'] }]
 */
export function findChecks(
  order: Pick<WorkOrder, 'checks'>,
  wrapper: Pick<Wrapper, 'checks'>,
  configured: Checks,
): readonly NamedCheck[] {
  return (order.checks ?? wrapper.checks ?? []).map((name) => {
    const check = Object.hasOwn(configured, name) ? configured[name] : undefined;
    if (check !== undefined) return { name, ...check };
    const known = Object.keys(configured).join(', ') || 'none';
    throw new OrdersError(
      'UNKNOWN_CHECK',
      `Unknown check ${JSON.stringify(name.slice(0, 100))}. Use one of ${known}, or add it to checks in the configuration.`,
    );
  });
}

/** The evidence an issue needs to advance: proof, or the agent's report if nothing contradicts it. */
export type EvidencePolicy = 'proven' | 'reported';

/**
 * The policy of an order: `proven` in a race, else its wrapper's, else `proven` where checks are named.
 *
 * @example
 * choosePolicy({ checks: ['unit'] }, { type: 'codex-cli' }) // 'proven'
 */
export function choosePolicy(
  order: Pick<WorkOrder, 'checks' | 'race'>,
  wrapper: Pick<Wrapper, 'checks' | 'policy'>,
): EvidencePolicy {
  if (order.race !== undefined) return 'proven';
  const names = order.checks ?? wrapper.checks ?? [];
  return wrapper.policy?.evidence ?? (names.length > 0 ? 'proven' : 'reported');
}
