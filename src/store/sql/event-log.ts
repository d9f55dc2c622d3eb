import { packEvents } from '../../events/index.js';
import { readEventRange } from '../ports/index.js';
import type { WatchableEventLog } from '../ports/index.js';
import type { Dialect } from '../driver.js';
import { joinRows, readEventPage, toRows } from '../event-rows.js';
import type { EventRow } from '../event-rows.js';
import { createGatherer } from '../gather.js';

/** Creates the store's event log methods. Appends of many runs are gathered into one write. */
export function createEventLog(dialect: Dialect): WatchableEventLog {
  const { database, addEvents, readBodies, announce, watchRun, eventWrites } = dialect;
  const append = createGatherer(
    async (rows: readonly EventRow[]) => {
      await addEvents(joinRows(rows));
      await announce({ runs: [...new Set(rows.map((row) => row.runId))] });
    },
    { maxWrites: eventWrites },
  );
  return {
    async append(runId, events, packs = packEvents(events)) {
      database.checkOpen();
      const rows = toRows(runId, packs);
      if (rows.length > 0) await append(rows);
    },

    async read(query) {
      const range = readEventRange(query);
      return readEventPage(await readBodies(query.runId, query.protocol, range), query.protocol, range);
    },

    watch: watchRun,
  };
}
