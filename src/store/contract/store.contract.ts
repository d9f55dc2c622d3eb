import { describe } from 'vitest';
import { describeBudgets } from './budgets.contract.js';
import { describeJobLeases } from './job-leases.contract.js';
import { describeEventLog } from './event-log.contract.js';
import { describeFleet } from './fleet.contract.js';
import { describeRetention } from './retention.contract.js';
import type { MakeSite } from './fixtures/open-site.js';
import { describeClaims } from './claims.contract.js';
import { describeFairClaims } from './fair-claims.contract.js';
import { describeDeferring } from './deferring.contract.js';
import { describeCompetition } from './competition.contract.js';
import { describeLists } from './lists.contract.js';
import { describeOutbox } from './outbox.contract.js';
import { describePlacedRuns } from './placed-runs.contract.js';
import { describeResultCache } from './result-cache.contract.js';
import { describeRuns } from './runs.contract.js';
import { describeSearch } from './search.contract.js';
import { describeSettleAndResolve } from './settle-and-resolve.contract.js';
import { describeStatistics } from './statistics.contract.js';
import { describeSubmitAndClaim } from './submit-and-claim.contract.js';
import { describeMaintenance } from './maintenance.contract.js';

/** The contract of every store. `makeSite` creates an unused location for the current test. */
export function describeStore(where: string, makeSite: MakeSite): void {
  describe(`a store ${where}`, () => {
    describeSubmitAndClaim(makeSite);
    describeClaims(makeSite);
    describeFairClaims(makeSite);
    describeDeferring(makeSite);
    describeSettleAndResolve(makeSite);
    describeCompetition(makeSite);
    describeLists(makeSite);
    describeOutbox(makeSite);
    describeRuns(makeSite);
    describePlacedRuns(makeSite);
    describeSearch(makeSite);
    describeEventLog(makeSite);
    describeResultCache(makeSite);
    describeMaintenance(makeSite);
    describeRetention(makeSite);
    describeStatistics(makeSite);
    describeFleet(makeSite);
    describeJobLeases(makeSite);
    describeBudgets(makeSite);
  });
}
