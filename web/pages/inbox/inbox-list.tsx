import { useRef } from 'preact/hooks';
import type { InboxItemView } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/live-list.js';
import { Badge } from '../../ui/badge.js';
import { ListFrame } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { isReading, ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { formatWait } from '../../ui/time.js';
import { useResource } from '../../server/use-resource.js';

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
      <a {...ROW} href={toPath({ page: 'inbox', id: item.id }) + query} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong>{item.issue_ref}</strong>
          {item.resolution === null ? (
            <span class="dim end">waits {formatWait(Date.now() - Date.parse(item.created_at))}</span>
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

/** More than these are found in the list of runs. */
const MOST = 10;

/** Runs whose agent has asked something: they too wait for a person, and are answered on their own page. */
function AskingRuns() {
  const runs = useResource(
    'asking',
    async (signal) => client.listRuns({ query: { state: 'waiting', limit: MOST }, signal }),
    { live: true },
  );
  const { items = [], next_cursor: next = null } = runs.value ?? {};
  if (items.length === 0) return null;
  return (
    <section class="asking" aria-label="Runs that ask">
      <h2>Runs that ask</h2>
      <ul class="inbox-rows">
        {items.map((run) => (
          <li key={run.id}>
            <a href={toPath({ page: 'run', id: run.id })}>
              <span class="row">
                <strong>{run.engine}</strong>
                <span class="dim end">began {formatWait(Date.now() - Date.parse(run.created_at))} ago</span>
              </span>
              <span class="clip">
                <SafeText text={run.spec.prompt ?? run.id} limit={300} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {next === null ? null : <a href="/runs?state=waiting">All of them</a>}
    </section>
  );
}
