import type { Client } from '../../../src/client/index.js';
import { listStateOptions } from '../../ui/badge.js';
import { LEVEL_LABELS } from '../../ui/repair-labels.js';
import { formatDay } from '../../ui/time.js';

type RunQuery = NonNullable<NonNullable<Parameters<Client['listRuns']>[0]>['query']>;

const STATES = ['queued', 'running', 'waiting', 'ended'] as const;
const OUTCOMES = ['success', 'failed', 'canceled', 'comment'] as const;
const LEVELS = ['none', 'deterministic_generic', 'schema_aligned'] as const;

/** Lists the filters above the list, with their query parameters. */
export function listRunFilters(engines: readonly string[]) {
  return [
    { name: 'state', label: 'State', options: listStateOptions(STATES) },
    { name: 'outcome', label: 'Outcome', options: listStateOptions(OUTCOMES) },
    { name: 'engine', label: 'Engine', options: engines },
    {
      name: 'repair_level',
      label: 'Repair',
      options: LEVELS.map((value) => ({ value, label: LEVEL_LABELS[value] })),
    },
  ] as const;
}

/** Reads the filter from the address; invalid values are ignored. */
export function readRunFilter(address: URLSearchParams, now = Date.now()): RunQuery {
  const oneOf = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
    values.find((value) => value === address.get(name));
  const state = oneOf('state', STATES);
  const outcome = oneOf('outcome', OUTCOMES);
  const repairLevel = oneOf('repair_level', LEVELS);
  const engine = address.get('engine') ?? '';
  const since = readBound(address.get('since'), now, 0);
  const until = readBound(address.get('until'), now, 1);
  const endedSince = readBound(address.get('ended_since'), now, 0);
  const endedUntil = readBound(address.get('ended_until'), now, 1);
  const model = address.get('model') ?? '';
  const version = address.get('engine_version') ?? '';
  const search = (address.get('search') ?? '').trim().slice(0, 200);
  return {
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(repairLevel === undefined ? {} : { repair_level: repairLevel }),
    ...(engine === '' ? {} : { engine }),
    ...(search === '' ? {} : { search }),
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
    ...(endedSince === null ? {} : { ended_since: endedSince }),
    ...(endedUntil === null ? {} : { ended_until: endedUntil }),
    ...(model === '' ? {} : { model }),
    ...(version === '' ? {} : { engine_version: version }),
  };
}

/** A filter without a field; links from charts set it. */
export interface FilterChip {
  readonly text: string;
  /** Its query parameters. */
  readonly names: readonly string[];
}

/** The parameters of filters without a field. */
export const CHIP_NAMES = ['ended_since', 'ended_until', 'model', 'engine_version'] as const;

/** Describes the filters without a field. */
export function listChips(filter: RunQuery): readonly FilterChip[] {
  const { ended_since: since, ended_until: until, model, engine_version: version } = filter;
  const ended = [
    since === undefined ? '' : `from ${formatTime(since)}`,
    until === undefined ? '' : `to ${formatTime(until)}`,
  ];
  return [
    ...(since === undefined && until === undefined
      ? []
      : [{ text: `Ended ${ended.filter(Boolean).join(' ')}`, names: ['ended_since', 'ended_until'] }]),
    ...(model === undefined ? [] : [{ text: `Model ${model}`, names: ['model'] }]),
    ...(version === undefined ? [] : [{ text: `Version ${version}`, names: ['engine_version'] }]),
  ];
}

function formatTime(timestamp: string): string {
  const date = new Date(timestamp);
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  return `${formatDay(date)} ${time}`;
}

/**
 * Reads a bound of a range: a date in the browser's time zone, `today`, `yesterday`, or a time. For a day, returns its start, or
 * the start of the next day if `daysLater` is 1. Null for anything else.
 */
export function readBound(text: string | null, now: number, daysLater: 0 | 1): string | null {
  if (text === null || text === '') return null;
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return Number.isNaN(Date.parse(text)) ? null : text;
  const today = new Date(now);
  const [year = 0, month = 1, day = 1] = /^\d{4}-\d{2}-\d{2}$/.test(text)
    ? text.split('-').map(Number)
    : [today.getFullYear(), today.getMonth() + 1, today.getDate() - DAYS_AGO.indexOf(text)];
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) && !DAYS_AGO.includes(text)) return null;
  const bound = new Date(year, month - 1, day + daysLater);
  return Number.isNaN(bound.getTime()) ? null : bound.toISOString();
}

const DAYS_AGO: readonly string[] = ['today', 'yesterday'];

/** Formats a bound for a date field: its day. */
export function formatBound(text: string, now: number): string {
  const bound = readBound(text, now, 0);
  if (bound === null) return '';
  return formatDay(new Date(bound));
}
