import type { RunResult } from './records/index.js';
import type { Value } from './driver.js';
import type { QueuedRun } from './queue-rules.js';

/** The countable fields of an ended run: specs and results can have any size. */
export interface RunDigest {
  readonly outcome: RunResult['status'];
  readonly repair_level: RunResult['repair_level'];
  /** Null if unknown. */
  readonly engine_version: string | null;
  readonly unknown_types: number;
  readonly unknown_fields: number;
  /** The run's usage; null if its engine does not report it, and for cached results. */
  readonly usage: RunUsage | null;
}

/** A run's tokens and cost, for statistics. */
export interface RunUsage {
  /** Null if unknown. */
  readonly model: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  /** In US dollars; null if the engine does not report it. */
  readonly cost: number | null;
}

/** Only the start of a task and of an error message, and both ends of an answer, are searched. */
const TASK_LENGTH = 4000;
const ANSWER_LENGTH = 2000;
const FAILURE_LENGTH = 500;
const VERSION_LENGTH = 100;
const MODEL_LENGTH = 100;
const MAX_WORDS = 8;

/** A cached result's version, drift and usage were counted for the run that produced it. */
function createDigest(result: RunResult): RunDigest {
  const { status, repair_level, process, drift, cached_from } = result;
  const isCached = cached_from !== undefined;
  const version = isCached ? null : (process?.version ?? null);
  return {
    outcome: status,
    repair_level,
    engine_version: version === null ? null : sanitize(version).slice(0, VERSION_LENGTH),
    unknown_types: isCached ? 0 : (drift?.unknown_types ?? 0),
    unknown_fields: isCached ? 0 : (drift?.unknown_fields ?? 0),
    usage: isCached ? null : createUsage(result),
  };
}

function createUsage({ usage, model }: RunResult): RunUsage | null {
  if (usage === undefined) return null;
  const name = usage.model ?? model;
  return {
    model: name === undefined ? null : sanitize(name).slice(0, MODEL_LENGTH),
    input_tokens: usage.input_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    output_tokens: usage.output_tokens,
    cost: usage.cost ?? null,
  };
}

/** Builds the text of a new run that searches match. */
export function buildSearchText({ id, spec, task, order }: Pick<QueuedRun, 'id' | 'spec' | 'task' | 'order'>): string {
  const { engine, workdir, command = [] } = spec;
  const parts = [id, engine, order?.issue_ref ?? '', workdir, command[0] ?? '', task.slice(0, TASK_LENGTH)];
  return foldCase(parts.join('\n'));
}

/** Builds the text of an end that searches match: the failure, and the agent's last message. Null if there is none. */
function buildEndText({ error, text = '' }: RunResult): string | null {
  const failure = error === undefined ? [] : [error.code, error.message.slice(0, FAILURE_LENGTH)];
  const isLong = text.length > 2 * ANSWER_LENGTH;
  const answer = isLong ? [text.slice(0, ANSWER_LENGTH), text.slice(-ANSWER_LENGTH)] : [text];
  return foldCase([...failure, ...answer].join('\n')) || null;
}

/**
 * Splits a query into words; a run matches if its text contains all of them.
 *
 * @example
 * splitWords('  Fix TEST ') // ['fix', 'test']
 */
export function splitWords(search: string): readonly string[] {
  return foldCase(search).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Folds case in the same way for every store, independent of the database's collation. */
function foldCase(text: string): string {
  return sanitize(text).toLowerCase();
}

/** Replaces NUL, which databases truncate or reject, and lone surrogates, which they store in different ways. */
function sanitize(text: string): string {
  return text.replaceAll('\0', ' ').replaceAll(/\p{Surrogate}/gu, '\u{FFFD}');
}

/**
 * Builds the statements of a guarded change that end runs: `runs` selects the ids of runs from the guard, and those that
 * have ended are left unchanged. The values of `listDigestValues` are the parameters from number `first` on.
 */
export function buildEndStatements(runs: string, { now, result, first }: EndParameters): readonly string[] {
  const end = `
    UPDATE runs SET state = 'ended', reply = NULL, ended_at = ${now}, result = ${result}
    WHERE state <> 'ended' AND id IN (${runs})`;
  return [...buildDigestStatements(runs, { now, first }), end];
}

/** Builds the statements that write the search text and the digests of ending runs. */
export function buildDigestStatements(
  runs: string,
  { now, first }: Omit<EndParameters, 'result'>,
): readonly [words: string, digest: string] {
  const value = (index: number): string => `$${first + index}`;
  return [
    `INSERT INTO run_words (number, words)
     SELECT seq * 2 + 1, ${value(6)}::text FROM runs WHERE ${value(6)}::text IS NOT NULL AND state <> 'ended' AND id IN (${runs})
     ON CONFLICT DO NOTHING`,
    `UPDATE run_digests SET outcome = ${value(0)}, repair_level = ${value(1)}, engine_version = ${value(2)},
       unknown_types = ${value(3)}::integer, unknown_fields = ${value(4)}::integer, usage = ${value(5)},
       started_at = runs.started_at, ended_at = ${now}::bigint
     FROM runs WHERE run_digests.seq = runs.seq AND run_digests.ended_at IS NULL AND runs.id IN (${runs})`,
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
  return [outcome, repair_level, engine_version, unknown_types, unknown_fields, used, buildEndText(result)];
}
