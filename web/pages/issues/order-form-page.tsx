import { pathOf } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
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
  if (issue.value === null && issue.failure === null) return <p class="loading">Loading …</p>;
  const last = issue.value?.orders[0]?.order ?? {};
  return <OrderFields name={`order ${issueRef}`} initial={{ ...orderFormOf(last), issueRef }} />;
}
