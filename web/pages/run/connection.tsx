import { formatCount } from '../../ui/amount.js';
import { Badge } from '../../ui/badge.js';
import { Notice } from '../../ui/notice.js';
import type { OpenRun } from './open-run.js';

/** Shows whether the events are complete and live. */
export function ConnectionBadge({ run }: { readonly run: OpenRun }) {
  const { state } = run.connection.value;
  return (
    <span role="status" aria-label="Connection">
      {renderBadge(state)}
    </span>
  );
}

function renderBadge(state: OpenRun['connection']['value']['state']) {
  switch (state) {
    case 'opening':
      return <Badge>Loading …</Badge>;
    case 'live':
      return <Badge isLive>Live</Badge>;
    case 'reconnecting':
      return <Badge tone="warn">Reconnecting …</Badge>;
    case 'paused':
      return <Badge>Paused</Badge>;
    case 'full':
      return <Badge tone="warn">Truncated</Badge>;
    case 'ended':
      return <Badge>Complete</Badge>;
    case 'lost':
      return <Badge tone="bad">Connection lost</Badge>;
  }
}

/** Missing events, and what to do about them. */
export function ConnectionNotices({ run }: { readonly run: OpenRun }) {
  const now = run.connection.value;
  const gaps = run.gaps.value;
  return (
    <>
      {now.state === 'lost' ? (
        <Notice tone="bad" title={now.failure.code} action={{ label: 'Reconnect', run: run.follow }}>
          {now.failure.message}
        </Notice>
      ) : null}
      {now.state === 'full' ? (
        <Notice tone="warn" title="Too many events for this page">
          Showing the first {formatCount(run.lenses.list.events.length)}. The export contains all of them.
        </Notice>
      ) : null}
      {gaps.length > 0 ? (
        <Notice tone="warn" title="Some events are missing">
          {gaps.map(({ from, to }) => (to === null ? `from ${from} on` : `${from} to ${to}`)).join(', ')}
        </Notice>
      ) : null}
    </>
  );
}
