import type { Logger } from '../../base/index.js';
import type { RunRecord } from '../../records/index.js';
import type { Figures } from './figures.js';
import { readDrift } from './read-drift.js';

/** What is known of a run beside its record, and when it is worth a line. */
export interface RunFigureOptions {
  readonly data: string;
  readonly logger: Logger;
  readonly driftThreshold: number;
}

/** Counts runs that have ended: how, what they used, and what they met that is not known. */
export function createRunFigures(figures: Figures, { data, logger, driftThreshold }: RunFigureOptions) {
  const ended = figures.counter('sluice_runs_ended_total', 'Runs that ended, by engine, status and repair level.');
  const failures = figures.counter('sluice_run_failures_total', 'Runs that failed or were canceled, by cause.');
  const tokens = figures.counter('sluice_usage_tokens_total', 'Tokens that runs have used, by engine and kind.');
  const cost = figures.counter('sluice_usage_cost_dollars_total', 'What runs cost, as engines tell, in US dollars.');
  const drift = figures.counter(
    'sluice_drift_total',
    'Unknown types and fields met, by engine and version, in runs done on this machine.',
  );
  const alerts = figures.counter('sluice_drift_alerts_total', 'Attempts whose drift reached the threshold.');

  async function countDrift(id: string): Promise<void> {
    for (const { engine, engine_version, unknown_types, unknown_fields } of await readDrift(data, id)) {
      const labels = { engine, engine_version: engine_version ?? 'unknown' };
      const [types, fields] = [sum(unknown_types), sum(unknown_fields)];
      if (types > 0) drift.add({ ...labels, kind: 'type' }, types);
      if (fields > 0) drift.add({ ...labels, kind: 'field' }, fields);
      if (types + fields < driftThreshold) continue;
      alerts.add(labels);
      logger.warn('an engine says things this version does not know', {
        run_id: id,
        ...labels,
        unknown_types: Object.keys(unknown_types).slice(0, 10),
        unknown_fields: Object.keys(unknown_fields).slice(0, 10),
        next: `sluice export ${id} DIR`,
      });
    }
  }

  return {
    async count({ id, spec: { engine }, result }: RunRecord): Promise<void> {
      if (result === null) return;
      const { status, repair_level, error, usage, cached_from } = result;
      ended.add({ engine, status, repair_level });
      if (error !== undefined) failures.add({ engine, category: error.category, code: error.code });
      // What came out of the cache was used, and met, by the run it was kept from.
      if (cached_from !== undefined) return;
      if (usage !== undefined) {
        tokens.add({ engine, kind: 'input' }, usage.input_tokens);
        tokens.add({ engine, kind: 'output' }, usage.output_tokens);
        tokens.add({ engine, kind: 'cached_input' }, usage.cached_input_tokens ?? 0);
        cost.add({ engine }, usage.cost ?? 0);
      }
      await countDrift(id);
    },
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
