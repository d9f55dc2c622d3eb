import type { Dialect } from '../driver.js';
import {
  encodeBody,
  MIN_COMPRESSED_LENGTH,
  MIN_SENT_COMPRESSED_LENGTH,
  ROWS_PER_PAGE,
  subtractStored,
} from '../event-rows.js';
import type { EventRow } from '../event-rows.js';
import { readNumber } from '../rows.js';
import type { SqliteDatabase } from './database.js';

/** Creates the storage of events. */
export function createEvents(database: SqliteDatabase): Pick<Dialect, 'addEvents' | 'readBodies' | 'eventWrites'> {
  const insert = database.prepare(INSERT_EVENTS);
  const findStored = database.prepare(FIND_STORED);
  const selectRows = database.prepare(READ_EVENTS);
  const selectBody = database.prepare('SELECT body FROM event_packs WHERE rowid = ?');

  const insertNew = database.prepare(INSERT_NEW_EVENTS);
  const findEnd = database.prepare(FIND_END);
  const readVersion = database.prepare('PRAGMA data_version');
  /** The last stored sequence number per run, protocol and attempt; valid while no other connection writes. */
  const ends = new Map<string, number>();
  let lastVersion: unknown;

  /** Inserts rows. A row after the last stored event skips the search for duplicates, which takes half the time. */
  function addRows(rows: readonly EventRow[], minLength: number): void {
    const version = readVersion.get()?.['data_version'];
    if (version !== lastVersion || ends.size > MAX_ENDS) ends.clear();
    lastVersion = version;
    for (const row of rows) {
      const { runId, protocol, attempt, firstSeq, lastSeq, lines } = row;
      const key = `${protocol} ${attempt} ${runId}`;
      if (firstSeq > (ends.get(key) ?? Number.POSITIVE_INFINITY)) {
        insertNew.run(runId, protocol, attempt, firstSeq, lastSeq, encodeBody(lines, minLength));
        ends.set(key, lastSeq);
      } else {
        addMissing(row, minLength);
        ends.set(key, readNumber(findEnd.get(runId, protocol, attempt) ?? {}, 'last_seq'));
      }
    }
  }

  /** Inserts a row, or the missing part of it if some of its events are already stored. */
  function addMissing(row: EventRow, minLength: number): void {
    const { runId, protocol, attempt, firstSeq, lastSeq, lines } = row;
    const { changes } = insert.run(runId, protocol, attempt, firstSeq, lastSeq, encodeBody(lines, minLength));
    if (Number(changes) > 0) return;
    const stored = findStored.all(runId, protocol, attempt, firstSeq, lastSeq).map((each) => ({
      firstSeq: readNumber(each, 'first_seq'),
      lastSeq: readNumber(each, 'last_seq'),
    }));
    for (const missing of subtractStored(row, stored)) addMissing(missing, minLength);
  }

  let lastEnd = Number.NEGATIVE_INFINITY;

  return {
    eventWrites: 1,
    async addEvents(rows) {
      const hadToWait = performance.now() - lastEnd < MIN_PAUSE_MS;
      const hasManyRows = rows.length > (hadToWait ? FEW_ROWS : MANY_ROWS);
      await database.writeWithBackgroundSync(() =>
        addRows(rows, hasManyRows ? MIN_SENT_COMPRESSED_LENGTH : MIN_COMPRESSED_LENGTH),
      );
      lastEnd = performance.now();
    },

    // The bodies are loaded one by one, because a page seldom needs all of its rows.
    readBodies: async (runId, protocol, { after, to }) => {
      const bounds = [after.attempt, after.seq, to.attempt, to.seq] as const;
      return database.read(() => {
        const rows = selectRows.all(runId, protocol, ...bounds, ROWS_PER_PAGE);
        return loadBodies(rows.map((row) => readNumber(row, 'rowid')));
      });
    },
  };

  function* loadBodies(ids: readonly number[]): Generator {
    for (const id of ids) yield selectBody.get(id)?.['body'];
  }
}

/**
 * With more rows than this in one write, time matters more than space: compressing small rows would take half the time.
 */
const MANY_ROWS = 64;
/**
 * The same limit if one write directly follows another. With fewer rows, only a few runs are writing, in large rows.
 */
const FEW_ROWS = 8;
/** A write that starts this soon after the previous write had to wait for it. */
const MIN_PAUSE_MS = 5;

/** Far more than the number of concurrently active runs, protocols and attempts. */
const MAX_ENDS = 10_000;

const INSERT_NEW_EVENTS = `
  INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body) VALUES (?, ?, ?, ?, ?, ?)`;

export const FIND_END = `
  SELECT last_seq FROM event_packs WHERE run_id = ? AND protocol = ? AND attempt = ? ORDER BY last_seq DESC LIMIT 1`;

const OVERLAPS = `run_id = ?1 AND protocol = ?2 AND attempt = ?3 AND last_seq >= ?4 AND first_seq <= ?5`;

export const INSERT_EVENTS = `
  INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body) SELECT ?1, ?2, ?3, ?4, ?5, ?6
  WHERE NOT EXISTS (SELECT 1 FROM event_packs WHERE ${OVERLAPS})`;

/** Finds the stored rows that overlap with a new row. */
export const FIND_STORED = `SELECT first_seq, last_seq FROM event_packs WHERE ${OVERLAPS}`;

/** Compares positions as pairs, which have an index. */
export const READ_EVENTS = `
  SELECT rowid FROM event_packs
  WHERE run_id = ? AND protocol = ? AND (attempt, last_seq) > (?, ?) AND (attempt, first_seq) <= (?, ?)
  ORDER BY attempt, last_seq LIMIT ?`;
