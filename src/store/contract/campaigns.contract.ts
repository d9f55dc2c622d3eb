import { describe } from 'vitest';
import type { MakeSite } from './fixtures/open-site.js';
import { describeKill } from './kill.contract.js';
import { describeModel } from './model.contract.js';
import { describeRace } from './race.contract.js';

/** The randomized part of every store's contract, which `npm run torture` repeats; `where` as in `describeStore`. */
export function describeStoreCampaigns(where: string, makeSite: MakeSite): void {
  describe(`a store ${where}`, () => {
    describeModel(makeSite);
  });

  describe(`a store ${where}, used by multiple processes`, () => {
    describeRace(makeSite);
    describeKill(makeSite);
  });
}
