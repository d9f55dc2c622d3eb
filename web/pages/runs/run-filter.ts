import type { Client } from '../../../src/client/index.js';
import { LEVEL_WORDS } from '../../ui/repair-level.js';

type RunQuery = NonNullable<NonNullable<Parameters<Client['listRuns']>[0]>['query']>;

const STATES = ['queued', 'running', 'waiting', 'ended'] as const;
const OUTCOMES = ['success', 'failed', 'canceled', 'comment'] as const;
const LEVELS = ['none', 'deterministic_generic', 'schema_aligned'] as const;

/** The choices above the list, by their name in the address. Which engines there are, the server says. */
export function runFilters(engines: readonly string[]) {
  return [
    { name: 'state', label: 'State', options: STATES },
    { name: 'outcome', label: 'Outcome', options: OUTCOMES },
    { name: 'engine', label: 'Engine', options: engines },
    {
      name: 'repair_level',
      label: 'Repair',
      options: LEVELS.map((value) => ({ value, label: LEVEL_WORDS[value] })),
    },
  ] as const;
}

/** What an address asks for; words that the server does not know are left out. */
export function readRunFilter(address: URLSearchParams): RunQuery {
  const oneOf = <Word extends string>(name: string, words: readonly Word[]): Word | undefined =>
    words.find((word) => word === address.get(name));
  const state = oneOf('state', STATES);
  const outcome = oneOf('outcome', OUTCOMES);
  const repairLevel = oneOf('repair_level', LEVELS);
  const engine = address.get('engine') ?? '';
  const search = (address.get('search') ?? '').trim().slice(0, 200);
  return {
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(repairLevel === undefined ? {} : { repair_level: repairLevel }),
    ...(engine === '' ? {} : { engine }),
    ...(search === '' ? {} : { search }),
  };
}
