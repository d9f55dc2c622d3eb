import type { Client } from '../../../src/client/index.js';

type ExecutionQuery = NonNullable<NonNullable<Parameters<Client['listExecutions']>[0]>['query']>;

/** The possible decisions of rules and people. */
export const DECISIONS = ['advance', 'needs-human', 'blocked', 'archive'] as const;

/** The names that filters have in the address. */
export const EXECUTION_FILTERS = ['issue_ref', 'run_id', 'worker', 'decision', 'from', 'to'] as const;

/** Reads the filter from the query. Days are local, and the last day is included. */
export function readExecutionFilter(address: URLSearchParams): ExecutionQuery {
  const decision = DECISIONS.find((word) => word === address.get('decision'));
  const since = startOfDay(address.get('from'), 0);
  const until = startOfDay(address.get('to'), 1);
  return {
    ...given('issue_ref', address),
    ...given('run_id', address),
    ...given('worker', address),
    ...(decision === undefined ? {} : { decision }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Returns the address that exports the same rows as a file. */
export function exportAddress(filter: ExecutionQuery, format: 'csv' | 'ndjson'): string {
  const words = Object.entries(filter).map(([name, value]) => [name, String(value)]);
  return `/v1/executions/export?${new URLSearchParams([['format', format], ...words]).toString()}`;
}

function given<Name extends string>(name: Name, address: URLSearchParams): { readonly [Key in Name]?: string } {
  const value = (address.get(name) ?? '').trim();
  // One name, so that the type is exact.
  return (value === '' ? {} : { [name]: value }) as { readonly [Key in Name]?: string };
}

/** When a day begins, some days later; undefined for an invalid day. */
function startOfDay(text: string | null, later: number): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text ?? '') ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // Two-digit years would be read as those of the last century.
  if (Number(year) < 1000) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day) + later);
  return date.getFullYear() > 9999 ? undefined : date.toISOString();
}
