import { useRef } from 'preact/hooks';
import type { InboxItemView } from '../../../src/api/index.js';
import { pathOf } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/use-live-list.js';
import { Badge } from '../../ui/badge.js';
import { ListFrame } from '../../ui/list-frame.js';
import { SafeText } from '../../ui/safe-text.js';
import { isReading, ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { AskingRuns } from './asking-runs.js';
import { waitOf } from './wait-of.js';

/** What waits, the oldest first: it has waited longest. Or what is settled, the newest first. */
export function InboxList({
  chosen,
  showsSettled,
}: {
  readonly chosen: string | null;
  readonly showsSettled: boolean;
}) {
  const rows = useRef<HTMLUListElement>(null);
  const items = useLiveList(
    showsSettled ? 'settled' : 'open',
    async (page, signal) =>
      client.listInbox({ query: { ...page, ...(showsSettled ? { settled: 'true' as const } : {}) }, signal }),
    (item) => item.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <>
      <ListFrame
        shown={items}
        one="item"
        what="items"
        order={showsSettled ? 'the last settled first' : 'the longest waiting first'}
        empty={
          showsSettled ? (
            <p>Nothing was settled yet. What a person has decided stays here to be read.</p>
          ) : (
            <>
              <strong>No result waits</strong>
              <p>
                When a result cannot be trusted as it is, it appears here with the evidence, and nothing goes on without
                you.
              </p>
            </>
          )
        }
      >
        {(shown) => (
          <ul ref={rows} class="inbox-rows">
            {shown.map((item) => (
              <Entry
                key={item.id}
                item={item}
                isChosen={item.id === chosen}
                query={showsSettled ? '?show=settled' : ''}
              />
            ))}
          </ul>
        )}
      </ListFrame>
      {/* Only once the list is there: what comes after it would be moved. */}
      {showsSettled || items.list === null ? null : <AskingRuns />}
    </>
  );
}

function Entry({
  item,
  isChosen,
  query,
}: {
  readonly item: InboxItemView;
  readonly isChosen: boolean;
  readonly query: string;
}) {
  return (
    <li>
      <a {...ROW} href={pathOf({ page: 'inbox', id: item.id }) + query} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong>{item.issue_ref}</strong>
          {item.resolution === null ? (
            <span class="dim end">waits {waitOf(Date.now() - Date.parse(item.created_at))}</span>
          ) : (
            <span class="end">
              <Badge>{String(item.resolution['action'])}</Badge>
            </span>
          )}
        </span>
        <span class="clip">
          <SafeText text={item.reason} limit={300} />
        </span>
        <code class="dim">
          <SafeText text={item.result_code} />
        </code>
      </a>
    </li>
  );
}
