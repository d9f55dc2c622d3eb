import { createMemoryPlacement, type MemoryPlaces } from './fixtures/memory-placement.js';
import { describePlacement } from './placement.contract.js';

describePlacement('in memory', async () => {
  const places: MemoryPlaces = new Map();
  const report = (name: string, state: 'alive' | 'gone') => {
    const place = places.get(name);
    if (place !== undefined) place.report = { state };
  };
  return {
    placement: createMemoryPlacement(places),
    reopen: async () => createMemoryPlacement(places),
    begin: async ({ name }) => report(name, 'alive'),
    end: async ({ name }) => report(name, 'gone'),
    count: async (run) => [...places.values()].filter(({ handle }) => handle.run === run).length,
  };
});
