import type { JobLeases } from '../job-leases.js';
import type { Context } from './context.js';
import { readColumns } from './rows.js';

/** Creates the part of the store that assigns jobs to processes. */
export function createJobLeases({ database }: Context): JobLeases {
  return {
    async leaseJobs({ names, owner, now, until }) {
      // Most processes find no free job: they lock and write nothing.
      const { rows: free } = await database.query(FIND_FREE, [names, owner, now]);
      if (free.length === 0) return [];
      const freeNames = free.map((row) => readColumns(row).text('name'));
      const { rows } = await database.query(HOLD, [freeNames, owner, now, until]);
      return rows.map((row) => readColumns(row).text('name'));
    },
    async releaseJobs(owner) {
      await database.query(`UPDATE sluice.duties SET held_until = 0 WHERE owner = $1`, [owner]);
    },
  };
}

const FIND_FREE = `
  SELECT name FROM unnest($1::text[]) AS wanted (name)
  WHERE NOT EXISTS (SELECT FROM sluice.duties WHERE duties.name = wanted.name AND owner <> $2 AND held_until > $3)`;

/** Sorted by name, so two processes do not deadlock. */
const HOLD = `
  INSERT INTO sluice.duties (name, owner, held_until)
  SELECT name, $2, $4 FROM unnest($1::text[]) AS wanted (name) ORDER BY name
  ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, held_until = EXCLUDED.held_until
    WHERE duties.owner = $2 OR duties.held_until <= $3
  RETURNING name`;
