import { listStateOptions } from '../../ui/badge.js';
import { useSignal } from '@preact/signals';
import type { SinkState } from '../../../src/records/index.js';
import { query } from '../../app/router.js';
import { client } from '../../server/client.js';
import { FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { DeliveryTable } from './delivery-table.js';
import { FailingSinks } from './failing-sinks.js';
import { SinkHealthRow } from './sink-health-view.js';

const STATES = ['waiting', 'sending', 'delivered', 'dead'] as const;

/** The comments: waiting, delivered and failed. */
export function OutboxPage() {
  const state = STATES.find((known) => known === query.value.get('state'));
  const sinks = useSignal<readonly SinkState[]>([]);
  const issueRef = (query.value.get('issue_ref') ?? '').trim();
  return (
    <ListPage
      title="Outbox"
      itemName="comment"
      itemsName="comments"
      filter={{
        ...(state === undefined ? {} : { state }),
        ...(issueRef === '' ? {} : { issue_ref: issueRef }),
      }}
      names={['issue_ref', 'state']}
      fields={
        <>
          <FilterText
            name="issue_ref"
            label="Issue"
            type="search"
            placeholder="Exact reference, such as acme/shop#12"
          />
          <FilterChoice name="state" label="State" options={listStateOptions(STATES)} />
        </>
      }
      load={async (filterAndPage, signal) => {
        // Both are loaded together, so a sink notice does not move the list when it arrives.
        const [page, listed] = await Promise.all([
          client.listOutbox({ query: filterAndPage, signal }),
          client.listSinks({ signal }),
        ]);
        sinks.value = listed.items;
        return page;
      }}
      getKey={(message) => message.id}
      emptyState={
        <>
          <strong>No comments yet</strong>
          <p>Each decision about an order adds a comment here. Delivered comments stay listed.</p>
        </>
      }
    >
      {(messages, list) => (
        <>
          <FailingSinks sinks={sinks.value} />
          <SinkHealthRow messages={messages} sinks={sinks.value} />
          <DeliveryTable messages={messages} list={list} />
        </>
      )}
    </ListPage>
  );
}
