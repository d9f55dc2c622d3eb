import { pathOf } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FailureNotice } from '../../ui/failure-notice.js';
import { Loading } from '../../ui/loading.js';
import { EMPTY_ORDER_FORM, orderFormOf } from './order-form.js';
import { OrderFields } from './order-fields.js';

/** The form of an order: a new one, or the last one of an issue to be changed and given again. */
export function OrderFormPage({ issueRef }: { readonly issueRef: string | null }) {
  return (
    <>
      <div class="page-head">
        <h1>{issueRef === null ? 'Give an order' : `Order again: ${issueRef}`}</h1>
        <a class="end" href={pathOf({ page: 'issues', ref: issueRef })}>
          {issueRef === null ? 'All issues' : 'Back to the issue'}
        </a>
      </div>
      {issueRef === null ? <OrderFields name="order" initial={EMPTY_ORDER_FORM} /> : <Again issueRef={issueRef} />}
    </>
  );
}

function Again({ issueRef }: { readonly issueRef: string }) {
  const issue = useResource(`issue ${issueRef}`, async (signal) => client.getIssue({ ref: issueRef, signal }));
  if (issue.value === null) {
    if (issue.failure === null) return <Loading />;
    // An issue begins with its first order; anything else than that it is new hides the order to begin with.
    if (issue.failure.code !== 'ISSUE_NOT_FOUND') {
      return <FailureNotice title="The last order could not be read" failure={issue.failure} reload={issue.reload} />;
    }
  }
  const last = issue.value?.orders[0]?.order ?? {};
  return <OrderFields name={`order ${issueRef}`} initial={{ ...orderFormOf(last), issueRef }} />;
}
