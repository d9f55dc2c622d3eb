import { useRef } from 'preact/hooks';
import { pathOf } from '../../app/route.js';
import { query } from '../../app/router.js';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/use-live-list.js';
import { Badge } from '../../ui/badge.js';
import { ClearFilters, FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListFrame } from '../../ui/list-frame.js';
import { toneOf } from '../../ui/state-tone.js';
import { Moment } from '../../ui/time.js';
import { isReading, ROW, useRowKeys } from '../../ui/use-row-keys.js';

const STATES = ['needs-human', 'blocked', 'review', 'doing', 'todo', 'done'] as const;

/** Issues, newest first. */
export function IssueList() {
  const rows = useRef<HTMLTableElement>(null);
  const state = STATES.find((word) => word === query.value.get('state'));
  const search = (query.value.get('search') ?? '').trim();
  const filter = { ...(state === undefined ? {} : { state }), ...(search === '' ? {} : { search }) };
  const issues = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => client.listIssues({ query: { ...filter, ...page }, signal }),
    (issue) => issue.issue_ref,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <>
      <div class="page-head">
        <h1>Issues</h1>
        {may('run') ? (
          <a class="button end" href="/issues?order">
            Give an order
          </a>
        ) : null}
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="search" label="Search" type="search" placeholder="part of the reference" />
        <FilterChoice name="state" label="State" options={STATES} />
        <ClearFilters names={['search', 'state']} />
      </form>
      <ListFrame
        shown={issues}
        one="issue"
        what="issues"
        order="newest first"
        empty={
          Object.keys(filter).length === 0 ? (
            <>
              <strong>No issues yet</strong>
              <p>
                An issue appears with its first order.{' '}
                {may('run') ? <a href="/issues?order">Give one here</a> : 'Give one'} or with{' '}
                <code>sluice order FILE</code>.
              </p>
            </>
          ) : (
            <p>No issue fits the filter. Clear it to see all of them.</p>
          )
        }
      >
        {(items) => (
          <table ref={rows} class="rows issues">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Issue</th>
                <th scope="col">Active run</th>
                <th scope="col">Changed</th>
              </tr>
            </thead>
            <tbody>
              {items.map((issue) => (
                <tr key={issue.issue_ref}>
                  <td>
                    <Badge tone={toneOf(issue.state)}>{issue.state}</Badge>
                  </td>
                  <td class="wide">
                    <a {...ROW} href={pathOf({ page: 'issues', ref: issue.issue_ref })}>
                      {issue.issue_ref}
                    </a>
                  </td>
                  <td>{issue.active_run_id ?? ''}</td>
                  <td class="nowrap">
                    <Moment at={issue.updated_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </ListFrame>
    </>
  );
}
