import { flag, object, oneOf, type FromSchema } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { sandboxUse } from '../../store/records/index.js';
import type { WorkOrder } from '../../store/records/index.js';
import { OrdersError } from '../orders-error.js';
import { createValueProblem, readNamed } from '../shapes/check-shape.js';
import type { Wrapper } from '../wrappers/wrappers.js';

const commandLine = {
  type: 'array',
  minItems: 1,
  maxItems: 4096,
  items: { type: 'string', pattern: '^[^\\u0000]*$' },
} as const;

/** The JSON Schema of a configured check. */
export const CHECK_SCHEMA = object(
  {
    /** The executable and its arguments; started without a shell. */
    command: commandLine,
  },
  {
    /** A command to run first, such as `npm ci`; it may use the network. */
    prepare: commandLine,
    /** How long each of the two commands may take, in seconds; 600 by default. */
    timeout_s: { type: 'number', exclusiveMinimum: 0, maximum: 86_400 },
    /** Whether the check may use the network; `none` by default. */
    network: oneOf(['none', 'host']),
    /** Whether it runs in a sandbox, which blocks the network: `auto` (default: if sandboxes work here), `required`, `off`. */
    sandbox: sandboxUse,
    /** The maximum number of times a failing check is run; 1 by default. */
    tries: { type: 'integer', minimum: 1, maximum: 10 },
    /**
     * Whether a passing check is run again with the tests and the configuration from before the change; by default if it
     * took less than a minute.
     */
    base_checks: flag,
  },
);

/** A configured command that Sluice runs to check a change. */
export type Check = FromSchema<typeof CHECK_SCHEMA>;

/** Checks, keyed by the name that orders and wrappers use. */
export type Checks = Readonly<Record<string, Check>>;

const checkSchema = fromRecordSchema<Check>(CHECK_SCHEMA);

/**
 * Validates the configured checks.
 *
 * @example
 * readChecks({ unit: { command: ['npm', 'test'], prepare: ['npm', 'ci'], timeout_s: 300 } })
 */
export function readChecks(value: unknown): Checks {
  return readNamed(value, {
    setting: 'checks',
    expected: 'write an object with a check for each name',
    schema: checkSchema,
    *findProblems(check) {
      for (const key of ['command', 'prepare'] as const)
        if (check[key]?.[0]?.trim() === '') yield createValueProblem(key, 'must start with an executable');
    },
  });
}

/** A check that an order names. */
export interface NamedCheck extends Check {
  readonly name: string;
}

/** Returns an order's checks: the ones it names, or else its wrapper's. */
export function findChecks(
  order: Pick<WorkOrder, 'checks'>,
  wrapper: Pick<Wrapper, 'checks'>,
  configured: Checks,
): readonly NamedCheck[] {
  return (order.checks ?? wrapper.checks ?? []).map((name) => {
    const check = Object.hasOwn(configured, name) ? configured[name] : undefined;
    if (check !== undefined) return { name, ...check };
    const names = Object.keys(configured);
    const advice = names.length === 0 ? 'Add it' : `Use one of ${names.join(', ')}, or add it`;
    throw new OrdersError(
      'UNKNOWN_CHECK',
      `Unknown check ${JSON.stringify(name.slice(0, 100))}. ${advice} to the setting "checks".`,
    );
  });
}

/** The evidence an issue needs to advance: proof, or just the agent's report as long as nothing contradicts it. */
export type EvidencePolicy = 'proven' | 'reported';

/** Chooses an order's policy: `proven` in a race, otherwise the wrapper's, otherwise `proven` if checks are named. */
export function choosePolicy(
  order: Pick<WorkOrder, 'checks' | 'race'>,
  wrapper: Pick<Wrapper, 'checks' | 'policy'>,
): EvidencePolicy {
  if (order.race !== undefined) return 'proven';
  const names = order.checks ?? wrapper.checks ?? [];
  return wrapper.policy?.evidence ?? (names.length > 0 ? 'proven' : 'reported');
}
