import { useRef } from 'preact/hooks';
import type { InboxItem } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/live-list.js';
import { Badge } from '../../ui/badge.js';
import { ListFrame } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { isReading, ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { formatWait } from '../../ui/time.js';

/** Results to review, the oldest first; or what is settled, the newest first. */
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
        order={showsSettled ? 'last settled first' : 'oldest first'}
        empty={
          showsSettled ? (
            <p>No settled items yet. Decisions by people are listed here.</p>
          ) : (
            <>
              <strong>No results to review</strong>
              <p>A result that cannot be accepted automatically appears here with its evidence.</p>
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
    </>
  );
}

function Entry({
  item,
  isChosen,
  query,
}: {
  readonly item: InboxItem;
  readonly isChosen: boolean;
  readonly query: string;
}) {
  return (
    <li>
      <a {...ROW} href={toPath({ page: 'inbox', id: item.id }) + query} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong>{item.issue_ref}</strong>
          {item.resolution === null ? (
            <span class="dim end">waiting {formatWait(Date.now() - Date.parse(item.created_at))}</span>
          ) : (
            <span class="end">
              <Badge>{item.resolution.action}</Badge>
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
