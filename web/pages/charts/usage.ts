import type { StatisticsView } from '../../../src/server/api/index.js';
import { sumCosts, type Cost } from '../../ui/format.js';
import { t } from './texts.js';

/** The usage of an engine and a model in a step. */
export type Usage = StatisticsView['buckets'][number]['usage'][number];

/** Names an engine and its model. */
export function getModelLabel({ engine, model }: Usage): string {
  return `${engine} ${model ?? t.modelUnknown}`;
}

/** Usage by an engine and a model over the whole period. */
export interface UsageRow {
  readonly engine: string;
  readonly model: string | null;
  readonly runs: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: Cost;
  /** The usage in each step. */
  readonly usage: readonly Usage[];
}

/** Sums a period's usage by engine and model, most expensive first. */
export function sumUsage({ buckets }: StatisticsView, engine: string | null): readonly UsageRow[] {
  const byModel = new Map<string, Usage[]>();
  for (const one of buckets.flatMap(({ usage }) => usage)) {
    if (engine !== null && one.engine !== engine) continue;
    const label = getModelLabel(one);
    const own = byModel.get(label);
    if (own === undefined) byModel.set(label, [one]);
    else own.push(one);
  }
  const rows = [...byModel.values()].map((usage): UsageRow => {
    const sum = (read: (one: Usage) => number): number => usage.reduce((soFar, one) => soFar + read(one), 0);
    return {
      engine: usage[0]?.engine ?? '',
      model: usage[0]?.model ?? null,
      runs: sum(({ runs }) => runs),
      input: sum(({ input_tokens }) => input_tokens),
      cached: sum(({ cached_input_tokens }) => cached_input_tokens),
      output: sum(({ output_tokens }) => output_tokens),
      cost: sumCosts(usage),
      usage,
    };
  });
  return rows.sort((one, other) => other.cost.value - one.cost.value || other.input - one.input);
}

/** Adds up the costs of a table's rows. */
export function sumRows(rows: readonly UsageRow[]): Cost {
  return sumCosts(rows.flatMap(({ usage }) => usage));
}

/** Describes how many engines report no cost, or that a part is estimated; empty if all of it is reported. */
export function describeCost(rows: readonly UsageRow[]): string {
  const unpriced = new Set(rows.filter(({ cost }) => !cost.isComplete).map((row) => row.engine)).size;
  if (unpriced > 0) return t.unpriced(unpriced);
  return sumRows(rows).isEstimate === true ? t.partlyEstimated : '';
}
