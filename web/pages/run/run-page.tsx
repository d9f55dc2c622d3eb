import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { query, route, setQuery } from '../../app/router.js';
import { FailureNotice, Loading } from '../../ui/notice.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { ConnectionBadge, ConnectionNotices } from './connection.js';
import { FailureCard, useLastStderr } from './failure-card.js';
import { FindBar } from './find-bar.js';
import { LensSwitch, Lenses } from './lenses.js';
import { openRun } from './open-run.js';
import type { OpenRun } from './open-run.js';
import { readPlace, writePlace } from './light-up.js';
import { ReplayBar } from './replay-bar.js';
import { ReplyBox } from './reply-box.js';
import { RunDetails } from './run-details.js';
import { RunHead } from './run-head.js';
import './run.css';

/** Browsers refuse an address that changes hundreds of times in a few seconds, as it would under a key held down. */
const ADDRESS_AFTER_MS = 250;

/** One run: conversation, events and raw bytes, live or replayed. */
export function RunPage() {
  const id = route.value.page === 'run' ? route.value.id : '';
  return <RunView key={id} id={id} />;
}

function RunView({ id }: { readonly id: string }) {
  const run = useMemo(() => openRun(id, readPlace(query.peek().get('at'))), [id]);
  const isOver = useSignal(false);
  const hasTools = useSignal(false);
  const standing = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }), { live: !isOver.value });
  const isEnded = standing.value?.state === 'ended';
  useEffect(() => {
    isOver.value = isEnded;
  }, [isEnded]);
  const isKnown = standing.value !== null;
  // A run that was opened live keeps following its end, even after it has ended.
  const wasLive = useRef<boolean | null>(null);
  if (isKnown) wasLive.current ??= !isEnded;
  useEffect(() => {
    if (!isKnown) return;
    run.follow();
    return run.close;
  }, [run, isKnown]);
  // The last event comes before the result is asked for again.
  const connection = run.connection.value.state;
  useEffect(() => {
    if (connection !== 'opening') standing.reload();
  }, [connection]);
  const { started_at = null, ended_at = null } = standing.value ?? {};
  useEffect(() => {
    const read = (at: string | null): number | null => (at === null ? null : Date.parse(at));
    run.span.value = { start: read(started_at), end: read(ended_at) };
  }, [run, started_at, ended_at]);
  useAddress(run);
  const isFailed = standing.value?.result?.status === 'failed';
  const stderr = useLastStderr(isFailed ? id : null);

  // The end of stderr stands above the lenses, which must not move when it comes.
  const isComing = isFailed && !wasLive.current && stderr.value === null && stderr.failure === null;
  if (standing.value !== null && isComing) return <Loading />;
  if (standing.value === null) {
    return standing.failure === null ? (
      <Loading />
    ) : (
      <div class="stack">
        <h1>Run</h1>
        <FailureNotice title="Cannot load the run" failure={standing.failure} reload={standing.reload}>
          <a href="/runs">All runs</a>
        </FailureNotice>
      </div>
    );
  }
  return (
    <div class="run-page">
      <RunHead run={standing.value} onChange={standing.reload} />
      <FailureCard run={run} view={standing.value} stderr={stderr} />
      <RunDetails run={standing.value} open={run} />
      <ConnectionNotices run={run} />
      <div class={hasTools.value ? 'lens-bar has-tools' : 'lens-bar'}>
        <LensSwitch run={run} />
        <ConnectionBadge run={run} />
        <button
          type="button"
          class="tools-toggle"
          aria-expanded={hasTools.value}
          onClick={() => (hasTools.value = !hasTools.value)}
        >
          Find and replay
        </button>
        <ReplayBar run={run} />
        <FindBar run={run} />
      </div>
      <Lenses run={run} isLive={wasLive.current ?? false} />
      <ReplyBox run={run} isEnded={isEnded} isWaiting={standing.value.state === 'waiting'} />
    </div>
  );
}

/** Keeps what is chosen in the address, so that it can be linked to. */
function useAddress(run: OpenRun): void {
  const chosen = run.chosen.value;
  useEffect(() => {
    const at = chosen === null ? null : writePlace(chosen);
    if (query.peek().get('at') === at) return;
    const timer = setTimeout(() => setQuery({ at }), ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [chosen]);
}
