import { useRef } from 'preact/hooks';
import { client } from '../../server/client.js';
import { toPath } from '../../app/route.js';
import { useResource } from '../../server/use-resource.js';
import { formatCount } from '../../ui/amount.js';
import { Badge, StateBadge } from '../../ui/badge.js';
import { InlineFailure } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { ChangeView } from '../inbox/change-view.js';

type Orders = Awaited<ReturnType<typeof client.getIssue>>['orders'];
type RaceResponse = Awaited<ReturnType<typeof client.getIssueRace>>;

/** The last race's runs side by side, each with its outcome and change. */
export function RaceView({ issueRef, orders }: { readonly issueRef: string; readonly orders: Orders }) {
  const [newest] = orders;
  // The race is refetched when the state of one of its runs changes.
  const states = orders.map(({ state, decision }) => `${state} ${decision?.action ?? ''}`).join(',');
  if (newest?.group === undefined) return null;
  return <LoadedRace key={newest.group} issueRef={issueRef} states={states} />;
}

function LoadedRace({ issueRef, states }: { readonly issueRef: string; readonly states: string }) {
  const race = useResource(`race ${issueRef} ${states}`, async (signal) =>
    client.getIssueRace({ ref: issueRef, signal }),
  );
  const { failure, reload } = race;
  // The last data stays until the next response arrives.
  const last = useRef<RaceResponse | null>(null);
  last.current = race.value ?? last.current;
  const value = last.current;
  return (
    <section
      class="stack"
      aria-label="Changes in this race, side by side"
      aria-busy={value === null && failure === null}
    >
      <h2>Race</h2>
      {failure === null ? null : <InlineFailure failure={failure} reload={reload} />}
      <p class="dim">{value === null ? 'Loading …' : describeRace(value)}</p>
      <div class="race">
        {value?.runs.map((run) => (
          <RacedRun key={run.run_id} run={run} isWinner={run.run_id === value.winner} />
        ))}
      </div>
    </section>
  );
}

function describeRace({ runs, winner }: RaceResponse): string {
  const open = runs.filter(({ decision }) => decision === null).length;
  if (winner !== null) return `${runs.length} runs; ${winner} won.`;
  if (open > 0) return `${runs.length} runs, ${open} of them not decided yet.`;
  return `${runs.length} runs without a winner. Choose the result to accept.`;
}

function RacedRun({ run, isWinner }: { readonly run: RaceResponse['runs'][number]; readonly isWinner: boolean }) {
  const { run_id, worker, state, decision, inbox_id, change } = run;
  const addedLines = change.files.reduce((sum, file) => sum + file.added, 0);
  const removed = change.files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div class="race-run stack">
      <div class="card stack">
        <div class="row">
          <h3>{run_id}</h3>
          {isWinner ? <Badge tone="good">Winner</Badge> : null}
          <StateBadge state={decision?.action ?? state} />
          <span class="dim end">
            {worker}, +{formatCount(addedLines)} −{formatCount(removed)}
          </span>
        </div>
        <p>{decision === null ? 'Not decided yet.' : <SafeText text={decision.reason} limit={500} />}</p>
        {inbox_id === null ? null : (
          <p>
            <a href={toPath({ page: 'inbox', id: inbox_id })}>Decide on this result</a>
          </p>
        )}
      </div>
      <ChangeView
        change={{ value: change, failure: null, reload: () => undefined }}
        review={READ_ONLY}
        label={`Changes in ${run_id}`}
      />
    </div>
  );
}

const READ_ONLY = { comments: [], setComment: null };
