import type { ExecutionRecord } from '../../records/index.js';
import type { Figures } from './figures.js';

/** Counts decisions, by the rules and by people: what came of orders, and why a person had to be asked. */
export function createOrderFigures(figures: Figures) {
  const decisions = figures.counter('sluice_decisions_total', 'Decisions, by action, result code and who decided.');
  const causes = figures.counter('sluice_needs_human_total', 'Results a person was asked about, by cause.');
  const stale = figures.counter('sluice_stale_results_total', 'Results of runs that were not active, archived.');
  const readings = figures.counter('sluice_readings_total', 'Results read, by worker type, encoding and status.');
  const comments = figures.counter(
    'sluice_comments_total',
    'Comments written by the rules, and whether the result had every field one needs.',
  );
  return {
    count(execution: ExecutionRecord): void {
      const { decision, result_code, who, problems, parse_status, result_encoding, worker_type } = execution;
      decisions.add({ action: decision, result_code, by: who === null ? 'rules' : 'person' });
      // A person's decision is about a result that was counted when it came.
      if (who !== null) return;
      readings.add({ worker_type, encoding: result_encoding, status: parse_status });
      if (decision === 'archive') return stale.add({ worker_type });
      comments.add({ complete: String(parse_status === 'parsed') });
      if (decision === 'needs-human') causes.add({ cause: problems[0]?.code ?? result_code });
    },
  };
}
