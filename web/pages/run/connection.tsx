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

/** Shows why events are missing and what to do about it. */
export function ConnectionNotices({ run }: { readonly run: OpenRun }) {
  const connection = run.connection.value;
  const gaps = run.gaps.value;
  return (
    <>
      {connection.state === 'lost' ? (
        <Notice tone="bad" title="Connection lost" action={{ label: 'Reconnect', run: run.follow }}>
          {connection.failure.message} <code>{connection.failure.code}</code>
        </Notice>
      ) : null}
      {connection.state === 'full' ? (
        <Notice tone="warn" title="Too many events for this page">
          Showing the first {formatCount(run.data.list.events.length)} events. The export contains all of them.
        </Notice>
      ) : null}
      {gaps.length > 0 ? (
        <Notice tone="warn" title="Some events are missing">
          Missing event numbers:{' '}
          {gaps.map(({ from, to }) => (to === null ? `from ${from} onward` : `${from} to ${to}`)).join(', ')}
        </Notice>
      ) : null}
    </>
  );
}
