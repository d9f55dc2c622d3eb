import { useRef } from 'preact/hooks';
import { query } from '../../app/router.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/use-live-list.js';
import { ClearFilters, FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListFrame } from '../../ui/list-frame.js';
import { isReading, useRowKeys } from '../../ui/use-row-keys.js';
import { DeliveryTable } from './delivery-table.js';
import './outbox.css';

const STATES = ['waiting', 'sending', 'delivered', 'dead'] as const;

/** Comments on their way, those that arrived and those that did not. */
export function OutboxPage() {
  const rows = useRef<HTMLTableElement>(null);
  const state = STATES.find((word) => word === query.value.get('state'));
  const issueRef = query.value.get('issue_ref') ?? '';
  const filter = {
    ...(state === undefined ? {} : { state }),
    ...(issueRef === '' ? {} : { issue_ref: issueRef }),
  };
  const messages = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => client.listOutbox({ query: { ...filter, ...page }, signal }),
    (message) => message.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <>
      <div class="page-head">
        <h1>Outbox</h1>
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="issue_ref" label="Issue" type="search" placeholder="acme/shop#12, exactly" />
        <FilterChoice name="state" label="State" options={STATES} />
        <ClearFilters names={['issue_ref', 'state']} />
      </form>
      <ListFrame
        shown={messages}
        one="comment"
        what="comments"
        order="newest first"
        empty={
          Object.keys(filter).length > 0 ? (
            <p>No comment fits the filter. Clear it to see all of them.</p>
          ) : (
            <>
              <strong>No comments yet</strong>
              <p>Every decision about an order writes one. It stays here until it has arrived, and after.</p>
            </>
          )
        }
      >
        {(items) => <DeliveryTable messages={items} list={rows} />}
      </ListFrame>
    </>
  );
}
