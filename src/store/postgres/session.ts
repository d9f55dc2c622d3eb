import type { GuardedChange, Session } from '../driver.js';
import type { Queryable } from './driver.js';

/** Creates a session that executes the shared statements. */
export function createSession(query: Queryable['query']): Session {
  return {
    all: async (sql, values) => (await query(translate(sql), values)).rows,
    get: async (sql, values) => (await query(translate(sql), values)).rows[0],
    run: async (sql, values) => (await query(translate(sql), values)).rowCount ?? 0,
    change: async (change, values) => (await query(joinChange(change), values)).rows,
  };
}

const translated = new Map<string, string>();
/** Lists have a statement per combination of filters; beyond this many, statements are translated each time. */
const MAX_TRANSLATED = 1000;

/** Rewrites a shared statement for PostgreSQL (`Session` explains the notation). */
function translate(sql: string): string {
  const known = translated.get(sql);
  if (known !== undefined) return known;
  const text = sql
    .replaceAll(/ INDEXED BY \w+/g, '')
    .replaceAll('CROSS JOIN', 'JOIN')
    .replaceAll(/\beach\((\$\d+)\) AS (\w+)/g, 'json_array_elements_text($1::json) AS $2 (value)')
    .replaceAll(/\bobjects\((\$\d+)\) AS (\w+)/g, 'json_array_elements($1::json) AS $2 (value)');
  if (translated.size < MAX_TRANSLATED) translated.set(sql, text);
  return text;
}

const joined = new WeakMap<GuardedChange, string>();

/** Joins the guard and the statements of a change into one statement, which is one round trip and one transaction. */
function joinChange(change: GuardedChange): string {
  const known = joined.get(change);
  if (known !== undefined) return known;
  const parts = change.statements.map((sql, index) => `change_${index} AS (${translate(sql)})`);
  const text = `WITH ${[`guard AS MATERIALIZED (${translate(change.guard)})`, ...parts].join(', ')} SELECT * FROM guard`;
  joined.set(change, text);
  return text;
}
