import { packEvents } from '../../events/index.js';
import { readEventRange } from '../../runs/index.js';
import type { WatchableEventLog } from '../../runs/index.js';
import {
  encodeBody,
  joinRows,
  readPage,
  ROWS_PER_PAGE,
  subtractStored,
  toRows,
  MIN_COMPRESSED_LENGTH,
  MIN_SENT_COMPRESSED_LENGTH,
} from '../event-rows.js';
import type { EventRow } from '../event-rows.js';
import { createGatherer } from '../gather.js';
import type { Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { Poller } from './poller.js';
import { readInteger } from './rows.js';

/** The events of all runs. Appends of many runs are gathered into one write to the disk. */
export function createEventLog(database: Database, wakers: Wakers, poller: Poller): WatchableEventLog {
  const insert = database.prepare(INSERT_EVENTS);
  const findStored = database.prepare(FIND_STORED);
  const selectRows = database.prepare(READ_EVENTS);
  const selectBody = database.prepare('SELECT body FROM event_packs WHERE rowid = ?');

  /** Inserts a row of which nothing is stored yet; otherwise what is missing. */
  function addRow(row: EventRow, shortest: number): void {
    const { runId, protocol, attempt, firstSeq, lastSeq, lines } = row;
    const { changes } = insert.run(runId, protocol, attempt, firstSeq, lastSeq, encodeBody(lines, shortest));
    if (Number(changes) > 0) return;
    const stored = findStored.all(runId, protocol, attempt, firstSeq, lastSeq).map((each) => ({
      firstSeq: readInteger(each, 'first_seq'),
      lastSeq: readInteger(each, 'last_seq'),
    }));
    for (const rest of subtractStored(row, stored)) addRow(rest, shortest);
  }

  let lastEnd = Number.NEGATIVE_INFINITY;
  const append = createGatherer(async (rows: readonly EventRow[]) => {
    const isPressed = performance.now() - lastEnd < PAUSE_MS;
    await database.writeAside(() => {
      const joined = joinRows(rows);
      const isMuch = joined.length > (isPressed ? FEW_ROWS : MANY_ROWS);
      for (const row of joined) addRow(row, isMuch ? MIN_SENT_COMPRESSED_LENGTH : MIN_COMPRESSED_LENGTH);
    });
    lastEnd = performance.now();
    for (const runId of new Set(rows.map((row) => row.runId))) wakers.wake(runId);
  });

  return {
    append: async (runId, events, packs = packEvents(events)) => append(toRows(runId, packs)),

    read: async (query) => {
      const range = readEventRange(query);
      const { after, to } = range;
      const { runId, protocol } = query;
      return database.read(() => {
        const bounds = [after.attempt, after.seq, to.attempt, to.seq] as const;
        const rows = selectRows.all(runId, protocol, ...bounds, ROWS_PER_PAGE);
        return readPage(loadBodies(rows.map((row) => readInteger(row, 'rowid'))), protocol, range);
      });
    },

    watch: (runId, wake) => poller.watch(runId, wake),
  };

  function* loadBodies(ids: readonly number[]): Generator {
    for (const id of ids) yield selectBody.get(id)?.['body'];
  }
}

/** With this many rows at once time is scarcer than space, and compressing small ones takes half of it. */
const MANY_ROWS = 64;
/** The same where one write follows another; fewer belong to a few runs, whose rows then grow large enough. */
const FEW_ROWS = 8;
/** A write that begins so soon after the last one was waited for. */
const PAUSE_MS = 5;

const SHARES_NUMBERS = `run_id = ?1 AND protocol = ?2 AND attempt = ?3 AND last_seq >= ?4 AND first_seq <= ?5`;

export const INSERT_EVENTS = `
  INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body) SELECT ?1, ?2, ?3, ?4, ?5, ?6
  WHERE NOT EXISTS (SELECT 1 FROM event_packs WHERE ${SHARES_NUMBERS})`;

/** The rows that share numbers with another. */
export const FIND_STORED = `SELECT first_seq, last_seq FROM event_packs WHERE ${SHARES_NUMBERS}`;

/** Compared as pairs, which the index answers. */
export const READ_EVENTS = `
  SELECT rowid FROM event_packs
  WHERE run_id = ? AND protocol = ? AND (attempt, last_seq) > (?, ?) AND (attempt, first_seq) <= (?, ?)
  ORDER BY attempt, last_seq LIMIT ?`;
