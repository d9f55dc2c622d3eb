import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { report } from '../../../test/report.js';
import type { ExecutionRecord, OutboxMessage } from '../records/order-record.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { RACE_ISSUE, type RaceReport } from './fixtures/race-report.js';
import { readAllPages } from './fixtures/read-all-pages.js';
import { startProgram } from './fixtures/start-program.js';

/** Longer in `npm run torture`. */
const SECONDS = Number(process.env['RACE_SECONDS'] ?? 2);

const PROGRAM = new URL('./fixtures/race-process.js', import.meta.url);

/** The contract of stores shared by multiple processes: one process activates new runs, three submit results. */
export function describeRace(makeSite: MakeSite): void {
  describe('the guard against stale results', () => {
    it(
      'accepts no stale result, loses no result and causes no errors',
      { timeout: 60_000 + SECONDS * 3000 },
      async () => {
        const url = await makeSite();
        const store = await openSite(url);
        const roles = ['switch', 'settle', 'settle', 'settle'];
        const program = await bundleProgram(PROGRAM);
        const programs = roles.map((role) => startProgram(program, [role, url, String(SECONDS)]));
        const reports: RaceReport[] = [];
        for (const { lines } of programs) reports.push(JSON.parse((await lines).at(-1) ?? '') as RaceReport);

        const executions = (await readAllPages(async (page) => store.listExecutions({ limit: 1000, ...page }))).flat();
        const messages = (await readAllPages(async (page) => store.listOutbox({ limit: 1000, ...page }))).flat();
        const violations = findViolations(reports, executions, messages);
        const switched = reports.flatMap((each) => each.switched);
        const settled = reports.flatMap((each) => each.settled);
        report(
          `race of ${SECONDS} s: ${switched.length} runs activated, ${settled.length} results submitted, ${executions.length} recorded, ${messages.length} delivered, ${violations.length} violations`,
        );
        expect(violations).toEqual([]);
        for (const action of ['advance', 'archive']) {
          expect(settled.filter((each) => each.action === action && !each.repeated).length).toBeGreaterThan(0);
        }
        const issue = await store.findIssue(RACE_ISSUE);
        const active = await store.findOrder(RACE_ISSUE, issue?.active_run_id ?? '');
        expect(issue?.state).toBe(active?.decision === null ? 'doing' : 'review');
        expect(issue?.last_run_number).toBe(switched.length);
      },
    );

    it('is covered by a check that can fail', () => {
      const [runId, next] = ['2026-11-15-backend-0001', '2026-11-15-backend-0002'];
      const settled = { runId, at: 5, action: 'advance', repeated: false };
      const planted: RaceReport = {
        role: 'settle',
        switched: [
          { runId, at: 1 },
          { runId: next, at: 4 },
        ],
        settled: [settled, { ...settled, action: 'archive' }],
        corrupted: ['x'],
        errors: ['y'],
      };
      expect(findViolations([planted], [], [])).toEqual([
        'corrupted: x',
        'failed: y',
        `${runId} advanced after ${next} was active`,
        `${runId} was decided 2 times`,
        '2 results were accepted and 0 executions recorded',
        '1 results advanced and 0 messages were written',
      ]);
    });
  });
}

function findViolations(
  reports: readonly RaceReport[],
  executions: readonly Pick<ExecutionRecord, 'decision'>[],
  messages: readonly Pick<OutboxMessage, 'id'>[],
): string[] {
  const violations = [
    ...reports.flatMap(({ corrupted }) => corrupted.map((state) => `corrupted: ${state}`)),
    ...reports.flatMap(({ errors }) => errors.map((message) => `failed: ${message}`)),
  ];
  const switched = reports.flatMap((each) => each.switched);
  const replacedBy = new Map(switched.slice(1).map((next, index) => [switched[index]?.runId, next]));
  const accepted = reports.flatMap(({ settled }) => settled).filter(({ repeated }) => !repeated);
  const times = new Map<string, number>();
  for (const { runId, at, action } of accepted) {
    const next = replacedBy.get(runId);
    if (action === 'advance' && next !== undefined && next.at < at) {
      violations.push(`${runId} advanced after ${next.runId} was active`);
    }
    times.set(runId, (times.get(runId) ?? 0) + 1);
  }
  for (const [runId, count] of times) if (count > 1) violations.push(`${runId} was decided ${count} times`);
  if (accepted.length !== executions.length) {
    violations.push(`${accepted.length} results were accepted and ${executions.length} executions recorded`);
  }
  const advanced = accepted.filter(({ action }) => action === 'advance').length;
  if (advanced !== messages.length) {
    violations.push(`${advanced} results advanced and ${messages.length} messages were written`);
  }
  return violations;
}
