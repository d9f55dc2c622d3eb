import type { RunResult, StoredRunSpec } from './records/index.js';
import type { Value } from './driver.js';

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
/** Of a model and a version. */
const NAME_LENGTH = 100;
const MAX_WORDS = 8;

/**
 * Lists the values of a run's end, for the parameters of `buildEndStatements`: the result, the fields that are counted,
 * and the text that searches match. A cached result's version, drift and usage were counted for the run that produced it.
 */
export function listEndValues(result: RunResult): Value[] {
  const { status, repair_level, process, drift, cached_from } = result;
  const counted =
    cached_from === undefined
      ? [shorten(process?.version), drift?.unknown_types ?? 0, drift?.unknown_fields ?? 0, formatUsage(result)]
      : [null, 0, 0, null];
  return [JSON.stringify(result), status, repair_level, ...counted, buildEndText(result)];
}

function formatUsage({ usage, model }: RunResult): string | null {
  if (usage === undefined) return null;
  return JSON.stringify({
    model: shorten(usage.model ?? model),
    input_tokens: usage.input_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    output_tokens: usage.output_tokens,
    cost: usage.cost ?? null,
  } satisfies RunUsage);
}

function shorten(name: string | null | undefined): string | null {
  return name === null || name === undefined ? null : sanitize(name).slice(0, NAME_LENGTH);
}

/** Builds the text of a new run that searches match. */
export function buildSearchText(id: string, spec: StoredRunSpec, task: string, issueRef: string | undefined): string {
  const { engine, workdir, command = [] } = spec;
  const parts = [id, engine, issueRef ?? '', workdir, command[0] ?? '', task.slice(0, TASK_LENGTH)];
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

/** The numbers of parameters: the time, and the first of the values that `listEndValues` returns. */
export interface EndParameters {
  readonly now: number;
  readonly result: number;
}

/**
 * Builds the statements of a guarded change that end runs: `runs` selects the ids of runs from the guard, and those that
 * have ended are left unchanged.
 */
export function buildEndStatements(runs: string, { now, result }: EndParameters): readonly string[] {
  const end = `
    UPDATE runs SET state = 'ended', reply = NULL, repository_start = NULL, ended_at = $${now}, result = $${result}
    WHERE state <> 'ended' AND id IN (${runs})`;
  return [...buildDigestStatements(runs, { now, result }), end];
}

/** Builds the statements that write the search text and the digests of ending runs. */
export function buildDigestStatements(
  runs: string,
  { now, result }: EndParameters,
): readonly [words: string, digest: string] {
  const value = (index: number): string => `$${result + index}`;
  return [
    `INSERT INTO run_words (number, words)
     SELECT seq * 2 + 1, ${value(7)}::text FROM runs WHERE ${value(7)}::text IS NOT NULL AND state <> 'ended' AND id IN (${runs})
     ON CONFLICT DO NOTHING`,
    `UPDATE run_digests SET outcome = ${value(1)}, repair_level = ${value(2)}, engine_version = ${value(3)},
       unknown_types = ${value(4)}::integer, unknown_fields = ${value(5)}::integer, usage = ${value(6)},
       started_at = runs.started_at, ended_at = $${now}::bigint
     FROM runs WHERE run_digests.seq = runs.seq AND run_digests.ended_at IS NULL AND runs.id IN (${runs})`,
  ];
}
