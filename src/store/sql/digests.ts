import type { RunResult } from '../records/index.js';
import type { Value } from '../driver.js';
import { buildFailureText, createDigest } from '../run-digest.js';

/**
 * Builds the statements of a guarded change that end runs: `runs` selects the ids of runs from the guard, and those that
 * have ended are left unchanged. The values of `listDigestValues` are the parameters from number `first` on.
 */
export function buildEndStatements(runs: string, { now, result, first }: EndParameters): readonly string[] {
  const end = `
    UPDATE runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = ${now}, result = ${result}
    WHERE state <> 'ended' AND id IN (${runs})`;
  return [...buildDigestStatements(runs, { now, first }), end];
}

/** Builds the statements that write the digests of ending runs, and mark the runs to be counted. */
export function buildDigestStatements(runs: string, { now, first }: Omit<EndParameters, 'result'>): readonly string[] {
  const value = (index: number): string => `$${first + index}`;
  return [
    `UPDATE run_digests SET outcome = ${value(0)}, repair_level = ${value(1)}, engine_version = ${value(2)},
       unknown_types = ${value(3)}::integer, unknown_fields = ${value(4)}::integer, usage = ${value(5)},
       words = words || ${value(6)}::text, started_at = runs.started_at, ended_at = ${now}::bigint
     FROM runs WHERE run_digests.seq = runs.seq AND run_digests.ended_at IS NULL AND runs.id IN (${runs})`,
    `INSERT INTO runs_to_count (seq)
     SELECT run_digests.seq FROM run_digests JOIN runs ON runs.seq = run_digests.seq
     WHERE runs.state <> 'ended' AND runs.id IN (${runs}) ON CONFLICT DO NOTHING`,
  ];
}

interface EndParameters {
  readonly now: string;
  readonly result: string;
  readonly first: number;
}

/** Returns the result's values, for the parameters of `buildEndStatements`. */
export function listDigestValues(result: RunResult): Value[] {
  const { outcome, repair_level, engine_version, unknown_types, unknown_fields, usage } = createDigest(result);
  const used = usage === null ? null : JSON.stringify(usage);
  return [outcome, repair_level, engine_version, unknown_types, unknown_fields, used, buildFailureText(result)];
}
