import type { Database, Row, Session } from '../driver.js';
import { chooseEarlier, countItem, splitHistory, sumInboxCounts } from '../inbox-roll-up.js';
import type { InboxCounts, InboxHistory, InboxSlot } from '../inbox-roll-up.js';
import { groupBySlot, splitPeriod, sumCounts, toRunSlot } from '../roll-up.js';
import type { RunCounts, RunSample, SlotRange, RunSlot, StatisticsPeriod } from '../roll-up.js';
import { readItem, readJson, readJsonOrNull, readNumber, readNumberOrNull, readText, readTextOrNull } from '../rows.js';

/** Statistics over time. Reading them takes time proportional to the number of slots, not of runs or inbox items. */
export interface Statistics {
  /** Returns counts of all runs that ended in a period, by engine, in time slots no longer than its steps. */
  listRunSlots(period: StatisticsPeriod): Promise<readonly RunSlot[]>;
  /** Adds up to `limit` ended runs to their slots, each once; returns the number added. */
  countEndedRuns(limit: number): Promise<number>;
  /** Returns opened and resolved inbox items since the start of a period, in time slots no longer than its steps. */
  readInboxHistory(period: StatisticsPeriod): Promise<InboxHistory>;
  /** Adds up to `limit` opened or resolved inbox items to their slots; returns the number added. */
  countInboxItems(limit: number): Promise<number>;
}

/** Creates the store's statistics methods. One process at a time counts; the others skip counting. */
export function createStatistics(database: Database): Statistics {
  return {
    async listRunSlots(period) {
      const { ranges, coveredUntil } = splitPeriod(period);
      const values = [...listRangeValues(ranges), period.since, coveredUntil, period.until];
      return (await database.all(LIST_RUN_SLOTS, values)).map((row) => {
        if (row['counts'] === null) return toRunSlot(readRunSample(row));
        return {
          at: readNumber(row, 'at'),
          engine: readText(row, 'engine'),
          counts: readJson(row, 'counts') as RunCounts,
        };
      });
    },

    async countEndedRuns(limit) {
      if ((await database.get('SELECT 1 AS found FROM runs_to_count LIMIT 1')) === undefined) return 0;
      return (await database.tryExclusive('counting', async (session) => countRuns(session, limit))) ?? 0;
    },

    async readInboxHistory(period) {
      const { ranges, lastMinute } = splitHistory(period);
      const values = [...listRangeValues(ranges), lastMinute.since, lastMinute.until];
      return joinHistory(await database.all(READ_INBOX_HISTORY, values), period.since);
    },

    async countInboxItems(limit) {
      if ((await database.get(`SELECT 1 AS found ${TO_COUNT} LIMIT 1`)) === undefined) return 0;
      return (await database.tryExclusive('counting', async (session) => countItems(session, limit))) ?? 0;
    },
  };
}

async function countRuns(session: Session, limit: number): Promise<number> {
  const rows = await session.all(LIST_TO_COUNT, [limit]);
  await addToSlots(
    session,
    RUN_SLOTS,
    rows.map((row) => toRunSlot(readRunSample(row))),
    sumCounts,
  );
  await session.run('DELETE FROM runs_to_count WHERE seq IN (SELECT counted.value::bigint FROM each($1) AS counted)', [
    JSON.stringify(rows.map((row) => readNumber(row, 'seq'))),
  ]);
  return rows.length;
}

async function countItems(session: Session, limit: number): Promise<number> {
  const rows = await session.all(LIST_ITEMS_TO_COUNT, [limit]);
  await addToSlots(session, INBOX_SLOTS, rows.flatMap(listUncounted), sumInboxCounts);
  const counted = rows.map((row) => {
    const { opened, resolved } = countItem(readItem(row));
    return { seq: readNumber(row, 'seq'), created_at: opened.at, resolved_at: resolved?.at ?? null };
  });
  await session.run(MARK_ITEMS, [JSON.stringify(counted)]);
  return rows.length;
}

/** Lists the changes of an item that are not counted in its slots yet. */
function listUncounted(row: Row): InboxSlot[] {
  const { opened, resolved } = countItem(readItem(row));
  return [...(row['created_at'] === null ? [opened] : []), ...(resolved === undefined ? [] : [resolved])];
}

/** Adds counts to the slots of a table. */
async function addToSlots<Counts>(
  session: Session,
  { find, put }: typeof RUN_SLOTS,
  counted: readonly { readonly at: number; readonly engine?: string; readonly counts: Counts }[],
  sum: (counts: readonly Counts[]) => Counts,
): Promise<void> {
  for (const { length, at, engine, counts } of groupBySlot(counted)) {
    const key = engine === undefined ? [length, at] : [length, at, engine];
    const row = await session.get(find, key);
    const known = row === undefined ? [] : [readJson(row, 'counts') as Counts];
    await session.run(put, [...key, JSON.stringify(sum([...known, ...counts]))]);
  }
}

const RUN_SLOTS = {
  find: 'SELECT counts FROM run_slots WHERE length = $1 AND at = $2 AND engine = $3',
  put: `
  INSERT INTO run_slots (length, at, engine, counts) VALUES ($1, $2, $3, $4)
  ON CONFLICT (length, at, engine) DO UPDATE SET counts = excluded.counts`,
};

const INBOX_SLOTS = {
  find: 'SELECT counts FROM inbox_slots WHERE length = $1 AND at = $2',
  put: `
  INSERT INTO inbox_slots (length, at, counts) VALUES ($1, $2, $3)
  ON CONFLICT (length, at) DO UPDATE SET counts = excluded.counts`,
};

const SAMPLE = `
  digest.seq, outcome, repair_level, engine_version, unknown_types, unknown_fields, usage, started_at, ended_at`;

/** The maximum number of ranges: one per slot length, of a period and of the time after it. */
const RANGES = 6;

/** Selects the slots of all ranges, whose values are the first parameters. One part per range, so each uses the index. */
const buildSlots = (columns: string, slots: string): string =>
  Array.from({ length: RANGES }, (_, index) => {
    const [length, since, until] = [1, 2, 3].map((number) => `$${3 * index + number}`);
    return `
  SELECT ${columns} FROM ${slots} AS slot WHERE slot.length = ${length} AND slot.at >= ${since} AND slot.at < ${until}`;
  }).join(`
  UNION ALL`);

function listRangeValues(ranges: readonly SlotRange[]): number[] {
  return Array.from({ length: RANGES }, (_, index) => ranges[index] ?? { length: 0, since: 0, until: 0 }).flatMap(
    ({ length, since, until }) => [length, since, until],
  );
}

/**
 * Reads slots, runs that are not counted in their slots yet, and runs that ended after the last slot in one statement,
 * so no run is counted twice or missed while another process counts.
 */
export const LIST_RUN_SLOTS = `${buildSlots(
  `slot.at, slot.engine, counts, NULL::bigint AS seq, NULL::text AS outcome, NULL::text AS repair_level,
    NULL::text AS engine_version, NULL::integer AS unknown_types, NULL::integer AS unknown_fields, NULL::text AS usage,
    NULL::bigint AS started_at, NULL::bigint AS ended_at`,
  'run_slots',
)}
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM runs_to_count CROSS JOIN run_digests AS digest ON digest.seq = runs_to_count.seq
  WHERE ended_at >= $19 AND ended_at < $20
  UNION ALL
  SELECT NULL, engine, NULL, ${SAMPLE}
  FROM run_digests AS digest INDEXED BY run_digests_by_end WHERE ended_at >= $20 AND ended_at < $21`;

export const LIST_TO_COUNT = `
  SELECT engine, ${SAMPLE}
  FROM (SELECT seq FROM runs_to_count ORDER BY seq LIMIT $1) AS ended
    CROSS JOIN run_digests AS digest ON digest.seq = ended.seq`;

/** Items whose opening or resolution is not counted in their slots yet. */
const TO_COUNT = `
  FROM inbox INDEXED BY inbox_to_count WHERE created_at IS NULL OR (resolution IS NOT NULL AND resolved_at IS NULL)`;

/**
 * Reads slots, items that are not counted yet, items of the period's last minute, and open items in one statement, so
 * no item is counted twice or missed while another process counts.
 */
export const READ_INBOX_HISTORY = `${buildSlots(
  `'slot' AS part, slot.at, counts, NULL::text AS item, NULL::text AS resolution, NULL::bigint AS created_at`,
  'inbox_slots',
)}
  UNION ALL
  SELECT 'new', NULL, NULL, item, resolution, created_at ${TO_COUNT}
  UNION ALL
  SELECT 'opened', NULL, NULL, item, resolution, created_at
  FROM inbox INDEXED BY inbox_by_creation WHERE created_at >= $19 AND created_at < $20
  UNION ALL
  SELECT 'resolved', NULL, NULL, item, resolution, created_at
  FROM inbox INDEXED BY inbox_by_resolution WHERE resolved_at >= $19 AND resolved_at < $20
  UNION ALL
  SELECT 'open', (SELECT count(*) FROM inbox INDEXED BY inbox_open WHERE resolution IS NULL), NULL, NULL, NULL, (
    SELECT created_at FROM inbox INDEXED BY inbox_open_by_creation WHERE resolution IS NULL AND created_at IS NOT NULL
    ORDER BY created_at LIMIT 1)`;

/** Skips items that are being resolved, so neither transaction waits for the other. */
export const LIST_ITEMS_TO_COUNT = `
  SELECT seq, item, resolution, created_at ${TO_COUNT} ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED`;

const MARK_ITEMS = `
  UPDATE inbox SET
    created_at = (counted.value ->> 'created_at')::bigint, resolved_at = (counted.value ->> 'resolved_at')::bigint
  FROM objects($1) AS counted WHERE inbox.seq = (counted.value ->> 'seq')::bigint`;

/**
 * Joins the parts of a history. An `opened` or `resolved` item changed in the last minute of the period, whose slot is
 * not read; a `new` item has changes that are not counted in slots yet.
 */
function joinHistory(rows: readonly Row[], since: number): InboxHistory {
  let [open, oldest]: [number, number | null] = [0, null];
  const slots = rows.flatMap((row): InboxSlot[] => {
    const part = readText(row, 'part');
    if (part === 'slot') return [{ at: readNumber(row, 'at'), counts: readJson(row, 'counts') as InboxCounts }];
    if (part === 'open') {
      open = readNumber(row, 'at');
      oldest = chooseEarlier(oldest, readNumberOrNull(row, 'created_at'));
      return [];
    }
    const { opened, resolved } = countItem(readItem(row));
    if (part === 'opened') return [opened];
    if (part === 'resolved') return resolved === undefined ? [] : [resolved];
    if (resolved === undefined) oldest = chooseEarlier(oldest, opened.at);
    return listUncounted(row).filter(({ at }) => at >= since);
  });
  return { slots, open, oldest };
}

function readRunSample(row: Row): RunSample {
  return {
    engine: readText(row, 'engine'),
    outcome: readText(row, 'outcome') as RunSample['outcome'],
    repair_level: readText(row, 'repair_level') as RunSample['repair_level'],
    engine_version: readTextOrNull(row, 'engine_version'),
    unknown_types: readNumber(row, 'unknown_types'),
    unknown_fields: readNumber(row, 'unknown_fields'),
    usage: readJsonOrNull(row, 'usage') as RunSample['usage'],
    started_at: readNumberOrNull(row, 'started_at'),
    ended_at: readNumber(row, 'ended_at'),
  };
}
