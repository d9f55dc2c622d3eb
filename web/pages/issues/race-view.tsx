import { useRef } from 'preact/hooks';
import { client } from '../../server/client.js';
import { toPath } from '../../app/route.js';
import { useResource } from '../../server/use-resource.js';
import { formatCount } from '../../ui/amount.js';
import { Badge, chooseTone } from '../../ui/badge.js';
import { InlineFailure } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { ChangeView } from '../inbox/change-view.js';

type Orders = Awaited<ReturnType<typeof client.getIssue>>['orders'];
type RaceAnswer = Awaited<ReturnType<typeof client.getIssueRace>>;

/** The runs of the last race side by side: the outcome and the change of each. */
export function RaceView({ issueRef, orders }: { readonly issueRef: string; readonly orders: Orders }) {
  const [newest] = orders;
  // Asked again when a run of it has come further.
  const states = orders.map(({ state, decision }) => `${state} ${decision?.action ?? ''}`).join(',');
  if (newest?.group === undefined) return null;
  return <LoadedRace key={newest.group} issueRef={issueRef} states={states} />;
}

function LoadedRace({ issueRef, states }: { readonly issueRef: string; readonly states: string }) {
  const race = useResource(`race ${issueRef} ${states}`, async (signal) =>
    client.getIssueRace({ ref: issueRef, signal }),
  );
  const { failure, reload } = race;
  // Known data stays until the response for the next state arrives.
  const last = useRef<RaceAnswer | null>(null);
  last.current = race.value ?? last.current;
  const value = last.current;
  return (
    <section
      class="stack"
      aria-label="Changes of the race, side by side"
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

function describeRace({ runs, winner }: RaceAnswer): string {
  const open = runs.filter(({ decision }) => decision === null).length;
  if (winner !== null) return `${runs.length} runs; ${winner} won.`;
  if (open > 0) return `${runs.length} runs, ${open} of them not decided yet.`;
  return `${runs.length} runs without a winner: choose the result that counts.`;
}

function RacedRun({ run, isWinner }: { readonly run: RaceAnswer['runs'][number]; readonly isWinner: boolean }) {
  const { run_id, worker, state, decision, inbox_id, change } = run;
  const added = change.files.reduce((sum, file) => sum + file.added, 0);
  const removed = change.files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div class="race-run stack">
      <div class="card stack">
        <div class="row">
          <h3>{run_id}</h3>
          {isWinner ? <Badge tone="good">winner</Badge> : null}
          <Badge tone={chooseTone(decision?.action ?? state)}>{decision?.action ?? state}</Badge>
          <span class="dim end">
            {worker}, +{formatCount(added)} −{formatCount(removed)}
          </span>
        </div>
        <p>{decision === null ? 'Not decided yet.' : <SafeText text={decision.reason} limit={500} />}</p>
        {inbox_id === null ? null : (
          <p>
            <a href={toPath({ page: 'inbox', id: inbox_id })}>Review this result</a>
          </p>
        )}
      </div>
      <ChangeView
        change={{ value: change, failure: null, reload: () => undefined }}
        review={READ_ONLY}
        label={`Change of ${run_id}`}
      />
    </div>
  );
}

const READ_ONLY = { comments: [], put: null };
