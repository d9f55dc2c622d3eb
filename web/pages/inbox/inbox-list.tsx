import { useRef } from 'preact/hooks';
import type { InboxItem } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/live-list.js';
import { Badge } from '../../ui/badge.js';
import { ListFrame } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { isReading, ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { labelResolution } from './decision-request.js';

/** The settled items, newest first. */
export function InboxList({ chosen }: { readonly chosen: string | null }) {
  const rows = useRef<HTMLUListElement>(null);
  const items = useLiveList(
    'settled',
    async (page, signal) => client.listInbox({ query: { ...page, settled: 'true' }, signal }),
    (item) => item.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <ListFrame
      listView={items}
      itemName="item"
      itemsName="items"
      order="most recently settled first"
      limitHint="Too many items to list. Each issue page lists its own items."
      empty={<p>No settled items yet. Human decisions are listed here.</p>}
    >
      {(shown) => (
        <ul ref={rows} class="inbox-rows">
          {shown.map((item) => (
            <Entry key={item.id} item={item} isChosen={item.id === chosen} />
          ))}
        </ul>
      )}
    </ListFrame>
  );
}

function Entry({ item, isChosen }: { readonly item: InboxItem; readonly isChosen: boolean }) {
  const path = `${toPath({ page: 'inbox', id: item.id })}?show=settled`;
  return (
    <li class={isChosen ? 'entry chosen' : 'entry'}>
      <a {...ROW} class="entry-link" href={path} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong>{item.issue_ref}</strong>
          <span class="end">
            {item.resolution === null ? null : <Badge>{labelResolution(item.resolution.action)}</Badge>}
          </span>
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
