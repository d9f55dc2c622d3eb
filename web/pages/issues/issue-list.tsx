import { toPath } from '../../app/route.js';
import { query } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { StateBadge, listStateOptions } from '../../ui/badge.js';
import { FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { Timestamp } from '../../ui/time.js';
import { ROW } from '../../ui/use-row-keys.js';

const STATES = ['needs-human', 'blocked', 'review', 'doing', 'todo', 'done'] as const;
const COLUMNS: readonly Column[] = [
  { name: 'State', width: '9rem' },
  { name: 'Issue' },
  { name: 'Active run', width: '16rem' },
  { name: 'Changed', width: '10rem' },
];

/** All issues and their states. */
export function IssueList() {
  const state = STATES.find((known) => known === query.value.get('state'));
  const search = (query.value.get('search') ?? '').trim();
  return (
    <ListPage
      title="Issues"
      itemName="issue"
      itemsName="issues"
      end={
        hasScope('run') ? (
          <a class="button primary" href="/issues?order">
            Submit an order
          </a>
        ) : undefined
      }
      filter={{ ...(state === undefined ? {} : { state }), ...(search === '' ? {} : { search }) }}
      names={['search', 'state']}
      fields={
        <>
          <FilterText name="search" label="Search" type="search" placeholder="Part of the reference" />
          <FilterChoice name="state" label="State" options={listStateOptions(STATES)} />
        </>
      }
      load={async (filterAndPage, signal) => client.listIssues({ query: filterAndPage, signal })}
      getKey={(issue) => issue.issue_ref}
      emptyState={
        <>
          <strong>No issues yet</strong>
          <p>
            An issue appears with its first order.{' '}
            {hasScope('run') ? (
              <>
                <a href="/issues?order">Submit an order here</a>, or with
              </>
            ) : (
              'Submit an order with'
            )}{' '}
            <code>sluice order FILE</code>.
          </p>
        </>
      }
    >
      {(issues, list) => (
        <RowTable columns={COLUMNS} list={list}>
          {issues.map((issue) => (
            <tr key={issue.issue_ref}>
              <td>
                <StateBadge state={issue.state} />
              </td>
              <td class="wide">
                <a {...ROW} href={toPath({ page: 'issues', ref: issue.issue_ref })}>
                  {issue.issue_ref}
                </a>
              </td>
              <td>{issue.active_run_id ?? ''}</td>
              <td class="nowrap">
                <Timestamp at={issue.updated_at} />
              </td>
            </tr>
          ))}
        </RowTable>
      )}
    </ListPage>
  );
}
