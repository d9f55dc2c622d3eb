import type { Decision, Race } from '../../store/records/index.js';
import type { RaceEntry, OrderStore } from '../../store/ports/index.js';
import { readChange, type ChangeContext } from '../git/read-change.js';

/**
 * Decides a race. Only proven results compete: more confirmed checks win, then fewer changed lines, then the earlier
 * settlement. The others are superseded. On a tie at the top, or without any proven result, `winner` is null, and a
 * human decides. There is a decision for each entry.
 */
export function decideRace(entries: readonly RaceEntry[]) {
  const proven = entries.filter(isProven).toSorted((left, right) => compare(left, right));
  const [first] = proven;
  const tied = first === undefined ? [] : proven.filter((each) => compare(first, each) === 0);
  const [winner] = tied.length === 1 ? tied : [];
  return {
    winner: winner === undefined ? null : getRunId(winner),
    entries: entries.map((entry) => ({
      entry,
      decision:
        winner === undefined
          ? leaveToHuman(entry, tied, entries.length)
          : entry === winner
            ? declareWinner(winner, entries.length)
            : supersede(entry, winner),
    })),
  };
}

/** Whether an entry would advance outside the race; the policy of every race is `proven`. */
function isProven({ execution }: RaceEntry): boolean {
  return execution.decision.action === 'advance';
}

function compare(left: RaceEntry, right: RaceEntry): number {
  return (
    countChecks(right) - countChecks(left) ||
    (left.lines ?? Number.MAX_SAFE_INTEGER) - (right.lines ?? Number.MAX_SAFE_INTEGER) ||
    Date.parse(left.execution.at) - Date.parse(right.execution.at)
  );
}

function countChecks({ execution: { decision } }: RaceEntry): number {
  return (decision.evidence ?? []).filter(
    ({ claim, by, verdict }) => claim === 'tests' && by === 'sluice' && verdict === 'confirmed',
  ).length;
}

function getRunId({ execution }: RaceEntry): string {
  return execution.order.run_id;
}

function declareWinner(winner: RaceEntry, runs: number): Decision {
  const { decision } = winner.execution;
  return { ...decision, reason: `${decision.reason} It won a race of ${runs} runs: ${describeStanding(winner)}.` };
}

function supersede(entry: RaceEntry, winner: RaceEntry): Decision {
  const { decision } = entry.execution;
  const why = isProven(entry)
    ? `${describeStanding(winner)}, against ${describeStanding(entry)}`
    : 'this run is not proven';
  return {
    ...decision,
    action: 'archive',
    result_code: 'superseded',
    reason: `Run ${getRunId(winner)} won the race: ${why}. ${isProven(entry) ? '' : decision.reason}`.trim(),
    next: 'Nothing to do; its change is kept.',
  };
}

const CHOOSE = 'Compare the changes of the race, then accept one of them, or retry.';

function leaveToHuman(entry: RaceEntry, tied: readonly RaceEntry[], runs: number): Decision {
  const { decision } = entry.execution;
  const outcome =
    tied.length === 0
      ? `None of the ${runs} runs in the race is proven.`
      : `The race of ${runs} runs is a tie between ${tied.map(getRunId).join(' and ')}: ${tied.map(describeStanding)[0] ?? ''}.`;
  return {
    ...decision,
    action: 'needs-human',
    result_code: decision.result_code === 'none' ? 'manual_intervention' : decision.result_code,
    reason: `${outcome} ${decision.reason}`,
    next: CHOOSE,
  };
}

function describeStanding(entry: RaceEntry): string {
  const checks = countChecks(entry);
  const { lines, execution } = entry;
  return [
    `${checks} ${checks === 1 ? 'check' : 'checks'} confirmed`,
    lines === null ? 'size unknown' : `${lines} changed ${lines === 1 ? 'line' : 'lines'}`,
    `settled at ${execution.at}`,
  ].join(', ');
}

/** The number of an issue's newest orders to search for its race. */
const MAX_ORDERS = 100;

/**
 * Reads the changes of all runs of an issue's last race; without a race, the change of its newest order. Undefined if the issue
 * has no order.
 */
export async function readRace(
  context: ChangeContext & { readonly store: Pick<OrderStore, 'findIssue' | 'listOrders' | 'listInbox'> },
  issueRef: string,
): Promise<Race | undefined> {
  const { store } = context;
  const [issue, orders, inbox] = await Promise.all([
    store.findIssue(issueRef),
    store.listOrders({ issueRef, limit: MAX_ORDERS }),
    store.listInbox({ issueRef, open: true, limit: MAX_ORDERS }),
  ]);
  const [newest] = orders.items;
  if (issue === undefined || newest === undefined) return undefined;
  // The undecided race of the issue, or the race of its active run.
  const active = orders.items.find(({ order }) => order.run_id === issue.active_run_id);
  const group = issue.active_group ?? active?.group ?? null;
  const members = group === null ? [newest] : orders.items.filter((record) => record.group === group).toReversed();
  const runs: Race['runs'][number][] = [];
  // In sequence, because a change can be several megabytes.
  for (const record of members) {
    const { order, state, decision } = record;
    const { run_id, worker } = order;
    const inbox_id = inbox.items.find((item) => item.run_id === run_id)?.id ?? null;
    runs.push({ run_id, worker, state, decision, inbox_id, change: await readChange(context, record) });
  }
  const isDecided = members.some(({ order }) => order.run_id === issue.active_run_id);
  return { issue_ref: issueRef, group, winner: isDecided ? issue.active_run_id : null, runs };
}
