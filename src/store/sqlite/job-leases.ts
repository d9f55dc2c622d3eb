import type { JobLeases } from '../job-leases.js';
import type { Database } from './database.js';
import { readText } from './rows.js';

/** Creates the part of the store that assigns jobs to processes. */
export function createJobLeases(database: Database): JobLeases {
  const findFree = database.prepare(`
    SELECT value AS name FROM json_each(?1)
    WHERE NOT EXISTS (SELECT 1 FROM duties WHERE duties.name = value AND owner <> ?2 AND held_until > ?3)`);
  const hold = database.prepare(`
    INSERT INTO duties (name, owner, held_until) SELECT value, ?2, ?4 FROM json_each(?1) WHERE true
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, held_until = excluded.held_until
      WHERE duties.owner = ?2 OR duties.held_until <= ?3
    RETURNING name`);
  const release = database.prepare('UPDATE duties SET held_until = 0 WHERE owner = ?');
  return {
    async leaseJobs({ names, owner, now, until }) {
      // Most processes find no free job: they write nothing.
      const free = await database.read(() => findFree.all(JSON.stringify(names), owner, now));
      if (free.length === 0) return [];
      const freeNames = JSON.stringify(free.map((row) => readText(row, 'name')));
      return database.write(() => hold.all(freeNames, owner, now, until).map((row) => readText(row, 'name')));
    },
    async releaseJobs(owner) {
      await database.write(() => release.run(owner));
    },
  };
}
