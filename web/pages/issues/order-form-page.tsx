import { toPath } from '../../app/route.js';
import { navigate } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { Choices, LineField, LinesField, ListField } from '../../ui/fields.js';
import { FormEnd, useForm } from '../../ui/form.js';
import { Loading, Notice, OfferFailure, FailureNotice } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { checkOrderForm, ORDER_PLACES, EMPTY_ORDER_FORM, fillOrderForm } from './order-form.js';
import type { OrderForm } from './order-form.js';

/** Asks for everything an order needs, and says what each thing is for. What was written is kept until it is sent. */
function OrderFields({ name, initial }: { readonly name: string; readonly initial: OrderForm }) {
  const { fields: written, change, forget } = useDraft(name, initial);
  const offer = useResource('engines', async (signal) => client.listEngines({ signal }));
  const workers = offer.value?.workers ?? [];
  const roots = offer.value?.roots ?? [];
  const repos = offer.value?.repos ?? [];
  const fields = {
    ...written,
    worker: written.worker || (workers[0]?.name ?? ''),
    repository: written.repository || (roots[0] ?? ''),
  };
  const { request, wrong: wrongHere } = checkOrderForm(fields, offer.value?.repos);
  const form = useForm(wrongHere, ORDER_PLACES, async () => {
    // Stored before sending: submitting the same form again, even after a reload, returns the same order.
    const requestId = fields.requestId || newRequestId();
    change({ ...fields, requestId });
    const { issue_ref } = await client.submitOrder({ body: { ...request, request_id: requestId } });
    forget();
    navigate(toPath({ page: 'issues', ref: issue_ref }));
  });
  const { wrong } = form;
  const edit = (changes: Partial<OrderForm>): void => {
    change({ ...changes, requestId: '' });
    form.touch();
  };

  const line = (
    field: 'issueRef' | 'role' | 'repository' | 'specRef' | 'contractsRef' | 'priority' | 'race',
    label: string,
    help: string,
    list?: string,
  ) => (
    <LineField
      id={field}
      list={list}
      label={label}
      help={help}
      wrong={wrong[field]}
      type="text"
      spellcheck={false}
      value={fields[field]}
      onWrite={(value) => edit({ [field]: value })}
    />
  );
  const lines = (
    field: 'instructions' | 'constraints' | 'dependsOn' | 'checks' | 'paths',
    label: string,
    help: string,
    rows: number,
  ) => (
    <LinesField
      id={field}
      label={label}
      help={help}
      wrong={wrong[field]}
      rows={rows}
      value={fields[field]}
      onWrite={(value) => edit({ [field]: value })}
    />
  );

  if (!hasScope('run')) {
    return (
      <Notice tone="warn" title="Read-only: this token lacks the scope run">
        Sign in with a token that has it to submit orders.
      </Notice>
    );
  }
  if (offer.value === null && offer.failure === null) return <Loading />;
  return (
    <form ref={form.ref} class="long-form stack" noValidate onSubmit={form.submit}>
      <OfferFailure offer={offer} />
      <div class="form-columns">
        <div class="stack">
          <div class="pair">
            {line('issueRef', 'Issue', 'owner/repo#12, group/project#12, or local#name.')}
            {line('role', 'Role', 'For example backend or qa. Part of the run id.')}
          </div>
          <ListField
            id="worker"
            label="Worker"
            help="The agent or configured wrapper that executes the order."
            wrong={wrong.worker}
            value={fields.worker}
            onWrite={(worker) => edit({ worker })}
          >
            {workers.map((worker) => (
              <option key={worker.name} value={worker.name}>
                {worker.name === worker.type ? worker.name : `${worker.name} (${worker.type})`}
              </option>
            ))}
          </ListField>
          {line('repository', 'Repository', describeRepository(roots, repos), 'repositories')}
          <datalist id="repositories">
            {[...roots, ...repos].map((known) => (
              <option key={known} value={known} />
            ))}
          </datalist>
          {lines('instructions', 'Instructions', 'What the worker should do.', 8)}
          {lines('constraints', 'Constraints', 'Optional. One per line.', 3)}
        </div>
        <div class="stack">
          <details class="card" open>
            <summary>
              <strong>Proof and race</strong>
            </summary>
            <div class="stack">
              <div class="pair">
                {lines('checks', 'Checks', describeChecks(offer.value?.checks ?? []), 2)}
                {lines('paths', 'Paths', 'What the change may touch: globs such as src/**, one per line.', 2)}
              </div>
              {line(
                'race',
                'Race',
                'The number of competing runs (2 to 8), or the competing workers, separated by commas.',
              )}
              <Choices
                name="expects"
                legend="Expected result"
                value={fields.expects}
                onChange={(expects) => edit({ expects })}
                options={[
                  { value: 'change', label: 'change', help: 'A commit or a pull request.' },
                  { value: 'report', label: 'report', help: 'An answer; no commit is needed.' },
                ]}
              />
            </div>
          </details>
          <details class="card">
            <summary>
              <strong>References and scheduling</strong>
            </summary>
            <div class="stack">
              <div class="pair">
                {line('specRef', 'Specification', 'URL or path.')}
                {line('contractsRef', 'Contracts', 'URL or path of contracts to follow.')}
                {line('priority', 'Priority', 'Higher runs first. Default: 0.')}
              </div>
              {lines('dependsOn', 'Depends on', 'Issues that must be in review or done first. One per line.', 2)}
              <Choices
                name="isolation"
                legend="Isolation"
                value={fields.isolation}
                wrong={wrong.isolation}
                onChange={(isolation) => edit({ isolation })}
                options={[
                  {
                    value: 'default',
                    label: 'default',
                    help: 'In a git repository, agents use a worktree; all other workers use the folder.',
                  },
                  {
                    value: 'repository',
                    label: 'repository',
                    help: 'Works in the folder itself; one order at a time.',
                  },
                  {
                    value: 'worktree',
                    label: 'worktree',
                    help: 'Uses a separate git worktree, so several orders can run at once.',
                  },
                ]}
              />
            </div>
          </details>
        </div>
        <div class="form-end-place">
          <FormEnd
            form={form}
            not="The order was not submitted"
            unanswered="The server did not answer. Send again: the order is submitted only once"
            send="Submit order"
            sending="Submitting …"
            empty="Reset form"
            onEmpty={forget}
            then="The new run becomes the active run; a run still working on this issue is stopped."
          />
        </div>
      </div>
    </form>
  );
}

function describeRepository(roots: readonly string[], repos: readonly string[]): string {
  const folder = `A folder on the server under ${roots.length === 0 ? 'one of the roots' : roots.join(' or ')}`;
  return repos.length === 0 ? `${folder}.` : `${folder}, or a URL: ${repos.join(', ')}.`;
}

function describeChecks(names: readonly string[]): string {
  const known = names.length === 0 ? 'None is configured.' : `Configured: ${names.join(', ')}.`;
  return `Checks that Sluice runs on the change, one per line. Default: the checks of the worker. ${known}`;
}

/** The form of an order: a new one, or the last one of an issue to be changed and given again. */
export function OrderFormPage({ issueRef }: { readonly issueRef: string | null }) {
  return (
    <>
      <div class="page-head">
        <h1>{issueRef === null ? 'Submit an order' : `Submit again: ${issueRef}`}</h1>
        <a class="end" href={toPath({ page: 'issues', ref: issueRef })}>
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
    // A new issue has no order yet, so the form starts empty; any other failure means that the last order could not be loaded.
    if (issue.failure.code !== 'ISSUE_NOT_FOUND') {
      return <FailureNotice title="Cannot load the last order" failure={issue.failure} reload={issue.reload} />;
    }
  }
  const last = issue.value?.orders[0]?.order ?? {};
  return <OrderFields name={`order ${issueRef}`} initial={{ ...fillOrderForm(last), issueRef }} />;
}
