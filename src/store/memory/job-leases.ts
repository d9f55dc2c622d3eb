import type { JobLeases } from '../job-leases.js';
import { checkOpen, type Tables } from './tables.js';

/** Creates the part of the store that assigns jobs to processes. */
export function createJobLeases(tables: Tables): JobLeases {
  const { jobs } = tables;
  return {
    async leaseJobs({ names, owner, now, until }) {
      checkOpen(tables);
      const held = names.filter((name) => {
        const holder = jobs.get(name);
        return holder === undefined || holder.owner === owner || holder.until <= now;
      });
      for (const name of held) jobs.set(name, { owner, until });
      return held;
    },
    async releaseJobs(owner) {
      checkOpen(tables);
      for (const [name, holder] of jobs) if (holder.owner === owner) jobs.delete(name);
    },
  };
}
