import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { query, route, setQuery } from '../../app/router.js';
import { FailureNotice, Loading } from '../../ui/notice.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { ConnectionBadge, ConnectionNotices } from './connection.js';
import { FailureCard, useLastStderr } from './failure-card.js';
import { FindBar } from './find-bar.js';
import { PaneSwitch, Panes } from './panes.js';
import { openRun } from './open-run.js';
import type { OpenRun } from './open-run.js';
import { parseSelection, formatSelection } from './highlight.js';
import { ReplayBar } from './replay-bar.js';
import { ReplyBox } from './reply-box.js';
import { RunDetails } from './run-details.js';
import { RunHead } from './run-head.js';
import './run.css';

/**
 * The delay before the address is updated: browsers reject hundreds of changes within seconds, as when a key is held
 * down.
 */
const ADDRESS_DELAY_MS = 250;

/** The run page: task, result and panes, live or replayed. */
export function RunPage() {
  const id = route.value.page === 'run' ? route.value.id : '';
  return <LoadedRun key={id} id={id} />;
}

function LoadedRun({ id }: { readonly id: string }) {
  const run = useMemo(() => openRun(id, parseSelection(query.peek().get('at'))), [id]);
  const isOver = useSignal(false);
  const hasTools = useSignal(false);
  const record = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }), { live: !isOver.value });
  const isEnded = record.value?.state === 'ended';
  useEffect(() => {
    isOver.value = isEnded;
  }, [isEnded]);
  const isKnown = record.value !== null;
  // A run opened while active stays in live mode after it has ended.
  const wasLive = useRef<boolean | null>(null);
  if (isKnown) wasLive.current ??= !isEnded;
  useEffect(() => {
    if (!isKnown) return;
    run.follow();
    return run.close;
  }, [run, isKnown]);
  // The result is refetched after the last event has arrived.
  const connection = run.connection.value.state;
  useEffect(() => {
    if (connection !== 'opening') record.reload();
  }, [connection]);
  const { started_at = null, ended_at = null } = record.value ?? {};
  useEffect(() => {
    const read = (at: string | null): number | null => (at === null ? null : Date.parse(at));
    run.span.value = { start: read(started_at), end: read(ended_at) };
  }, [run, started_at, ended_at]);
  useAddress(run);
  const isFailed = record.value?.result?.status === 'failed';
  const stderr = useLastStderr(isFailed ? id : null);

  // The end of stderr is shown above the panes, which must not move when it arrives.
  const isStderrLoading = isFailed && !wasLive.current && stderr.value === null && stderr.failure === null;
  if (record.value !== null && isStderrLoading) return <Loading />;
  if (record.value === null) {
    return record.failure === null ? (
      <Loading />
    ) : (
      <div class="stack">
        <h1>Run</h1>
        <FailureNotice title="Cannot load the run" failure={record.failure} reload={record.reload}>
          <a href="/runs">All runs</a>
        </FailureNotice>
      </div>
    );
  }
  return (
    <div class="run-page">
      <RunHead run={record.value} onChange={record.reload} />
      <FailureCard run={run} view={record.value} stderr={stderr} />
      <RunDetails run={run} view={record.value} />
      <ConnectionNotices run={run} />
      <div class={hasTools.value ? 'run-pane-bar has-tools' : 'run-pane-bar'}>
        <PaneSwitch run={run} />
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
      <Panes run={run} isLive={wasLive.current ?? false} />
      <ReplyBox run={run} isEnded={isEnded} isWaiting={record.value.state === 'waiting'} />
    </div>
  );
}

/** Stores the selection in the address, to make it linkable. */
function useAddress(run: OpenRun): void {
  const selection = run.selection.value;
  useEffect(() => {
    const at = selection === null ? null : formatSelection(selection);
    if (query.peek().get('at') === at) return;
    const timer = setTimeout(() => setQuery({ at }), ADDRESS_DELAY_MS);
    return () => clearTimeout(timer);
  }, [selection]);
}
