import type { Client } from '../../../src/client/index.js';

type ExecutionQuery = NonNullable<NonNullable<Parameters<Client['listExecutions']>[0]>['query']>;

/** The decisions that rules and users can make. */
export const DECISIONS = ['advance', 'needs-human', 'blocked', 'archive'] as const;

/** The filters' query parameters. */
export const EXECUTION_FILTERS = ['issue_ref', 'run_id', 'worker', 'decision', 'from', 'to'] as const;

/** Reads the filter from the query. Days are local, and the last day is included. */
export function readExecutionFilter(address: URLSearchParams): ExecutionQuery {
  const decision = DECISIONS.find((known) => known === address.get('decision'));
  const since = findStartOfDay(address.get('from'), 0);
  const until = findStartOfDay(address.get('to'), 1);
  return {
    ...readParameter('issue_ref', address),
    ...readParameter('run_id', address),
    ...readParameter('worker', address),
    ...(decision === undefined ? {} : { decision }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Returns the URL that downloads the same rows as a file. */
export function buildExportUrl(filter: ExecutionQuery, format: 'csv' | 'ndjson'): string {
  const parameters = Object.entries(filter).map(([name, value]) => [name, String(value)]);
  return `/v1/executions/export?${new URLSearchParams([['format', format], ...parameters]).toString()}`;
}

function readParameter<Name extends string>(name: Name, address: URLSearchParams): { readonly [Key in Name]?: string } {
  const value = (address.get(name) ?? '').trim();
  // The object has at most this one key, so the type is exact.
  return (value === '' ? {} : { [name]: value }) as { readonly [Key in Name]?: string };
}

/** Returns the start of the day `daysLater` days after a date; undefined for an invalid date. */
function findStartOfDay(text: string | null, daysLater: number): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text ?? '') ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // `Date` maps years below 100 to the twentieth century.
  if (Number(year) < 1000) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day) + daysLater);
  return date.getFullYear() > 9999 ? undefined : date.toISOString();
}
