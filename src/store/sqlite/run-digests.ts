import type { RunResult } from '../../records/index.js';
import { digestOf } from '../run-digest.js';
import type { Database } from './database.js';

/** Keeps what is searched and counted of runs; inside the transactions that change the runs themselves. */
export interface RunDigests {
  add(id: string, words: string): void;
  close(id: string, result: RunResult): void;
}

/** What is searched and counted stands apart from specs and results, which a search need not read. */
export function createRunDigests(database: Database): RunDigests {
  const insert = database.prepare(`
    INSERT INTO run_digests (sequence, engine, created_at, words)
    SELECT sequence, engine, created_at, ? FROM runs WHERE id = ? ON CONFLICT DO NOTHING`);
  const close = database.prepare(`
    UPDATE run_digests SET outcome = ?, repair_level = ?, engine_version = ?, unknown_types = ?, unknown_fields = ?,
      started_at = runs.started_at, ended_at = runs.ended_at
    FROM runs WHERE runs.id = ? AND run_digests.sequence = runs.sequence`);
  return {
    add(id, words) {
      insert.run(words, id);
    },
    close(id, result) {
      const { outcome, repair_level, engine_version, unknown_types, unknown_fields } = digestOf(result);
      close.run(outcome, repair_level, engine_version, unknown_types, unknown_fields, id);
    },
  };
}
