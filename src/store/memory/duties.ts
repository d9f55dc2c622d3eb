import type { Duties } from '../duties.js';
import { checkOpen, type Tables } from './tables.js';

/** Creates the part of the store that assigns duties to processes. */
export function createDuties(tables: Tables): Duties {
  const { duties } = tables;
  return {
    async holdDuties({ names, owner, now, until }) {
      checkOpen(tables);
      const held = names.filter((name) => {
        const holder = duties.get(name);
        return holder === undefined || holder.owner === owner || holder.until <= now;
      });
      for (const name of held) duties.set(name, { owner, until });
      return held;
    },
    async releaseDuties(owner) {
      checkOpen(tables);
      for (const [name, holder] of duties) if (holder.owner === owner) duties.delete(name);
    },
  };
}
