import { amountOf } from '../../ui/amount.js';
import { Badge } from '../../ui/badge.js';
import { Notice } from '../../ui/notice.js';
import type { OpenRun } from './open-run.js';
import type { Failure } from '../../server/use-resource.js';

/** Whether what one sees is what there is. */
export function ConnectionBadge({ run }: { readonly run: OpenRun }) {
  const { state } = run.connection.value;
  return (
    <span role="status" aria-label="Connection">
      {badgeOf(state)}
    </span>
  );
}

function badgeOf(state: OpenRun['connection']['value']['state']) {
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
      return <Badge tone="warn">Cut off</Badge>;
    case 'ended':
      return <Badge>All events</Badge>;
    case 'lost':
      return <Badge tone="bad">Connection lost</Badge>;
  }
}

/** What is missing, and what to do about it. */
export function ConnectionNotices({ run }: { readonly run: OpenRun }) {
  const now = run.connection.value;
  const gaps = run.gaps.value;
  return (
    <>
      {now.state === 'lost' ? (
        <Notice tone="bad" title={now.failure.code} action={{ label: 'Connect again', run: run.follow }}>
          {now.failure.message}
        </Notice>
      ) : null}
      {now.state === 'full' ? (
        <Notice tone="warn" title="There are more events than a page can hold">
          The first {amountOf(run.lenses.list.events.length)} are shown. The export has all of them.
        </Notice>
      ) : null}
      {gaps.length > 0 ? (
        <Notice tone="warn" title="Some events are gone">
          {gaps.map(({ from, to }) => (to === null ? `from ${from} on` : `${from} to ${to}`)).join(', ')}
        </Notice>
      ) : null}
    </>
  );
}

/** How the stream of one protocol stands. */
export type StreamState =
  | { readonly state: 'opening' | 'live' | 'reconnecting' | 'paused' | 'full' | 'ended' }
  | { readonly state: 'lost'; readonly failure: Failure };

/** Of what several streams are, the one thing a person should know. */
const ORDER = ['lost', 'full', 'reconnecting', 'paused', 'opening', 'live', 'ended'] as const;

/** How the events of a run come in, in one word: the worst of its streams. */
export function joinStates(states: readonly StreamState[]): StreamState {
  for (const word of ORDER) {
    const found = states.find(({ state }) => state === word);
    if (found !== undefined) return found;
  }
  return { state: 'opening' };
}
