import type { Logger } from '../../base/index.js';
import type { RunRecord, ExecutionRecord } from '../../store/records/index.js';
import { readSpan } from '../../base/files/index.js';
import { openRun, translateRunFolder } from '../../runs/run-folder/index.js';
import type { RunFolder } from '../../runs/run-folder/index.js';
import { driftSummarySchema } from '../../events/index.js';
import type { DriftSummary } from '../../events/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import type { MetricRegistry } from './metric-registry.js';

/** Options for counting runs. */
interface RunMetricOptions {
  readonly data: string;
  readonly logger: Logger;
  readonly driftThreshold: number;
}

/** Counts ended runs: outcome, usage and drift. */
export function createRunMetrics(metrics: MetricRegistry, { data, logger, driftThreshold }: RunMetricOptions) {
  const endedRuns = metrics.counter('sluice_runs_ended_total', 'Runs that ended, by engine, status and repair level.');
  const failures = metrics.counter('sluice_run_failures_total', 'Runs that failed or were canceled, by cause.');
  const tokens = metrics.counter('sluice_usage_tokens_total', 'Tokens used by runs, by engine and kind.');
  const cost = metrics.counter(
    'sluice_usage_cost_dollars_total',
    'Cost of runs in US dollars, as reported by engines.',
  );
  const drift = metrics.counter(
    'sluice_drift_total',
    'Unknown types and fields, by engine and version, in runs of this host.',
  );
  const alerts = metrics.counter('sluice_drift_alerts_total', 'Attempts whose drift reached the threshold.');

  async function countDrift(id: string, hasDrift: boolean): Promise<void> {
    for (const { engine, engine_version, unknown_types, unknown_fields } of await readDrift(data, id, hasDrift)) {
      const labels = { engine, engine_version: engine_version ?? 'unknown' };
      const [types, fields] = [sum(unknown_types), sum(unknown_fields)];
      if (types > 0) drift.add({ ...labels, kind: 'type' }, types);
      if (fields > 0) drift.add({ ...labels, kind: 'field' }, fields);
      if (types + fields < driftThreshold) continue;
      alerts.add(labels);
      logger.warn('engine output has unknown types or fields', {
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
      endedRuns.add({ engine, status, repair_level });
      if (error !== undefined) failures.add({ engine, category: error.category, code: error.code });
      // A cached result's usage and drift belong to the run that produced it.
      if (cached_from !== undefined) return;
      if (usage !== undefined) {
        tokens.add({ engine, kind: 'input' }, usage.input_tokens);
        tokens.add({ engine, kind: 'output' }, usage.output_tokens);
        tokens.add({ engine, kind: 'cached_input' }, usage.cached_input_tokens ?? 0);
        cost.add({ engine }, usage.cost ?? 0);
      }
      await countDrift(id, result.drift !== undefined);
    },
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Counts decisions, and the reasons why a human had to decide. */
export function createOrderMetrics(metrics: MetricRegistry) {
  const decisions = metrics.counter('sluice_decisions_total', 'Decisions, by action, result code and who decided.');
  const causes = metrics.counter('sluice_needs_human_total', 'Results that needed a human decision, by cause.');
  const stale = metrics.counter('sluice_stale_results_total', 'Archived results of runs that were not active.');
  const readings = metrics.counter('sluice_readings_total', 'Results read, by wrapper type, encoding and status.');
  const comments = metrics.counter(
    'sluice_comments_total',
    'Comments written by the rules, by whether the result was complete.',
  );
  return {
    count(execution: ExecutionRecord): void {
      const { decision, result_code, who, problems, parse_status, result_encoding, worker_type } = execution;
      decisions.add({ action: decision, result_code, by: who === null ? 'rules' : 'person' });
      // A human decision is about a result that was already counted.
      if (who !== null) return;
      readings.add({ worker_type, encoding: result_encoding, status: parse_status });
      if (decision === 'archive') return stale.add({ worker_type });
      comments.add({ complete: String(parse_status === 'parsed') });
      if (decision === 'needs-human') causes.add({ cause: problems[0]?.code ?? result_code });
    },
  };
}

const schema = fromRecordSchema<DriftSummary>(driftSummarySchema);

/** The number of bytes to read from the end of the log. An attempt's summary is in its last lines. */
const MAX_BYTES = 256 * 1024;

/** Reads a run's drift by attempt; empty if its folder is not on this host. */
async function readDrift(data: string, runId: string, hasDrift: boolean): Promise<readonly DriftSummary[]> {
  try {
    const folder = await openRun(data, runId);
    const handle = await folder.openLog('diagnostics');
    if (handle === undefined) return hasDrift ? await translateDrift(folder) : [];
    try {
      const { size } = await handle.stat();
      const length = Math.min(size, MAX_BYTES);
      const bytes = await readSpan(handle, size - length, length);
      return bytes.toString('utf8').split('\n').flatMap(readSummary);
    } finally {
      await handle.close();
    }
  } catch {
    // The folder is deleted, damaged or on another host: its drift is not counted.
    return [];
  }
}

/** Counts the drift of a packed run, which has no log, from its recorded bytes. */
async function translateDrift(folder: RunFolder): Promise<readonly DriftSummary[]> {
  const summaries: DriftSummary[] = [];
  for await (const _ of translateRunFolder(folder, { onDrift: (summary) => summaries.push(summary) }));
  return summaries;
}

function readSummary(line: string): DriftSummary[] {
  if (!line.includes('"summary":"drift"')) return [];
  try {
    const result = schema['~standard'].validate(JSON.parse(line));
    return result instanceof Promise || result.issues !== undefined ? [] : [result.value];
  } catch {
    return [];
  }
}
