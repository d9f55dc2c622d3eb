import type { StoreFigures } from '../../store/index.js';
import type { Gauge } from './figures.js';

/** What the store holds at this moment, over all machines. */
export function gaugesOf({ runs, orders, inbox, outbox }: StoreFigures, now: number): readonly Gauge[] {
  const age = outbox.oldest === null ? 0 : Math.max(0, now - outbox.oldest) / 1000;
  return [
    { name: 'sluice_runs', help: 'Runs that are not over, by state.', values: byState(runs) },
    { name: 'sluice_orders', help: 'Orders that are not over, by state.', values: byState(orders) },
    { name: 'sluice_inbox_items', help: 'What waits for a person.', values: [[{}, inbox]] },
    {
      name: 'sluice_outbox_messages',
      help: 'Comments that are not delivered: on their way, or given up.',
      values: byState({ open: outbox.open, dead: outbox.dead }),
    },
    { name: 'sluice_outbox_age_seconds', help: 'How long the oldest comment on its way waits.', values: [[{}, age]] },
  ];
}

function byState(counts: Readonly<Record<string, number>>): Gauge['values'] {
  return Object.entries(counts).map(([state, count]) => [{ state }, count] as const);
}
