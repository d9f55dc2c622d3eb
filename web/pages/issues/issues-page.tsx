import { query, route } from '../../app/router.js';
import { IssueView } from './issue-view.js';
import { IssueList } from './issue-list.js';
import { OrderFormPage } from './order-form-page.js';
import './issues.css';

/** The list of issues, one issue with its history, or the form for a new order. */
export function IssuesPage() {
  const { value } = route;
  const ref = value.page === 'issues' ? value.ref : null;
  if (query.value.has('order')) return <OrderFormPage issueRef={ref} />;
  return ref === null ? <IssueList /> : <IssueView key={ref} issueRef={ref} />;
}
