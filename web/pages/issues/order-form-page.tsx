import { useSignal } from '@preact/signals';
import { toPath } from '../../app/route.js';
import { navigate } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { RadioField, TextField, TextAreaField, SelectField } from '../../ui/fields.js';
import { FormFooter, useForm } from '../../ui/form.js';
import { Loading, Notice, ChoicesFailure, FailureNotice } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { checkOrderForm, ORDER_FIELD_MAP, EMPTY_ORDER_FORM, fillOrderForm } from './order-form.js';
import type { OrderForm } from './order-form.js';

/** The order form. Input is kept until it is sent. */
function OrderFields({ name, initial }: { readonly name: string; readonly initial: OrderForm }) {
  const { fields: draft, change, discard } = useDraft(name, initial);
  const choices = useResource('engines', async (signal) => client.listEngines({ signal }));
  // Once the user has edited the repository, it can also be empty.
  const isRepositoryEdited = useSignal(false);
  const wrappers = choices.value?.workers ?? [];
  const roots = choices.value?.roots ?? [];
  const repos = choices.value?.repos ?? [];
  const fields = {
    ...draft,
    worker: draft.worker || (wrappers[0]?.name ?? ''),
    repository: isRepositoryEdited.value ? draft.repository : draft.repository || (roots[0] ?? ''),
  };
  const { request, errors: localErrors } = checkOrderForm(fields, choices.value?.repos);
  const form = useForm(localErrors, ORDER_FIELD_MAP, async () => {
    // The request id is stored before sending, so resubmitting the same form, even after a reload, returns the same
    // order.
    const requestId = fields.requestId || newRequestId();
    change({ ...fields, requestId });
    const { issue_ref } = await client.submitOrder({ body: { ...request, request_id: requestId } });
    discard();
    navigate(toPath({ page: 'issues', ref: issue_ref }));
  });
  const { errors } = form;
  const edit = (changes: Partial<OrderForm>): void => {
    if (changes.repository !== undefined) isRepositoryEdited.value = true;
    change({ ...changes, requestId: '' });
    form.clearRefusal();
  };

  const line = (
    field: 'issueRef' | 'role' | 'repository' | 'specRef' | 'contractsRef' | 'priority' | 'race',
    label: string,
    help: string,
    list?: string,
  ) => (
    <TextField
      id={field}
      list={list}
      label={label}
      help={help}
      error={errors[field]}
      type="text"
      spellcheck={false}
      value={fields[field]}
      onChange={(value) => edit({ [field]: value })}
    />
  );
  const lines = (
    field: 'instructions' | 'constraints' | 'dependsOn' | 'checks' | 'paths',
    label: string,
    help: string,
    rows: number,
  ) => (
    <TextAreaField
      id={field}
      label={label}
      help={help}
      error={errors[field]}
      rows={rows}
      value={fields[field]}
      onChange={(value) => edit({ [field]: value })}
    />
  );

  if (!hasScope('run')) {
    return (
      <Notice tone="warn" title='Read-only: this token lacks the scope "run"'>
        Sign in with a token that has this scope to submit orders.
      </Notice>
    );
  }
  if (choices.value === null && choices.failure === null) return <Loading />;
  return (
    <form ref={form.ref} class="long-form stack" noValidate onSubmit={form.submit}>
      <ChoicesFailure choices={choices} />
      <div class="form-columns">
        <div class="stack">
          <div class="pair">
            {line('issueRef', 'Issue', 'For example owner/repo#12, group/project#12 or local#name.')}
            {line('role', 'Role', 'For example backend or qa. Part of the run id.')}
          </div>
          <SelectField
            id="worker"
            label="Wrapper"
            help="How the agent is started: a configured or built-in wrapper."
            error={errors.worker}
            value={fields.worker}
            onChange={(worker) => edit({ worker })}
          >
            {wrappers.map(({ name: wrapper, type }) => (
              <option key={wrapper} value={wrapper}>
                {wrapper === type ? wrapper : `${wrapper} (${type})`}
              </option>
            ))}
          </SelectField>
          {line('repository', 'Repository', describeRepository(roots, repos), 'repositories')}
          <datalist id="repositories">
            {[...roots, ...repos].map((known) => (
              <option key={known} value={known} />
            ))}
          </datalist>
          {lines('instructions', 'Instructions', 'What the agent should do.', 8)}
          {lines('constraints', 'Constraints', 'Optional. One per line.', 3)}
        </div>
        <div class="stack">
          <details class="card" open>
            <summary>
              <strong>Checks and race</strong>
            </summary>
            <div class="stack">
              <div class="pair">
                {lines('checks', 'Checks', describeChecks(choices.value?.checks ?? []), 2)}
                {lines(
                  'paths',
                  'Paths',
                  'Optional. The files that the change may touch: globs such as src/**, one per line.',
                  2,
                )}
              </div>
              {line(
                'race',
                'Race',
                'Optional. The number of competing runs (2 to 8), or the competing wrappers, separated by commas.',
              )}
              <RadioField
                name="expects"
                legend="Expected result"
                value={fields.expects}
                onChange={(expects) => edit({ expects })}
                options={[
                  { value: 'change', label: 'Change', help: 'A commit or a pull request.' },
                  { value: 'report', label: 'Report', help: 'A written answer; no commit is needed.' },
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
                {line('specRef', 'Specification', 'Optional. URL or path.')}
                {line('contractsRef', 'Contracts', 'Optional. URL or path of contracts to follow.')}
                {line('priority', 'Priority', 'Orders with a higher number run first. Default: 0.')}
              </div>
              {lines(
                'dependsOn',
                'Depends on',
                'Optional. Issues that must be in review or done first, one per line.',
                2,
              )}
              <RadioField
                name="isolation"
                legend="Isolation"
                value={fields.isolation}
                error={errors.isolation}
                onChange={(isolation) => edit({ isolation })}
                options={[
                  {
                    value: 'default',
                    label: 'Default',
                    help: 'In a git repository, agents use a worktree; other commands use the folder itself.',
                  },
                  {
                    value: 'repository',
                    label: 'Repository',
                    help: 'Works in the folder itself; one order at a time.',
                  },
                  {
                    value: 'worktree',
                    label: 'Worktree',
                    help: 'Uses a separate git worktree, so multiple orders can run concurrently.',
                  },
                ]}
              />
            </div>
          </details>
        </div>
        <div class="form-end-place">
          <FormFooter
            form={form}
            failureTitle="The order was not submitted"
            unansweredTitle="The server did not respond. Submit again: the order is submitted only once"
            submitLabel="Submit order"
            sendingLabel="Submitting …"
            onReset={() => {
              isRepositoryEdited.value = false;
              discard();
            }}
            effect="The new run becomes the active run. A run that is still working on this issue is stopped."
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
  const hint = names.length === 0 ? 'None are configured.' : `Configured: ${names.join(', ')}.`;
  return `Optional. Checks that Sluice runs on the change, one per line. Default: the wrapper’s checks. ${hint}`;
}

/** The page for a new order, or for editing and resubmitting an issue's last order. */
export function OrderFormPage({ issueRef }: { readonly issueRef: string | null }) {
  return (
    <>
      <div class="page-head">
        <h1>{issueRef === null ? 'Submit an order' : `Submit again: ${issueRef}`}</h1>
        <a class="end" href={toPath({ page: 'issues', ref: issueRef })}>
          {issueRef === null ? 'All issues' : 'Back to the issue'}
        </a>
      </div>
      {issueRef === null ? (
        <OrderFields name="order" initial={EMPTY_ORDER_FORM} />
      ) : (
        <SubmitAgain issueRef={issueRef} />
      )}
    </>
  );
}

function SubmitAgain({ issueRef }: { readonly issueRef: string }) {
  const issue = useResource(`issue ${issueRef}`, async (signal) => client.getIssue({ ref: issueRef, signal }));
  if (issue.value === null) {
    if (issue.failure === null) return <Loading />;
    // A new issue has no order yet, so its form is empty. Any other failure means that the last order could not be loaded.
    if (issue.failure.code !== 'ISSUE_NOT_FOUND') {
      return <FailureNotice title="Cannot load the last order" failure={issue.failure} reload={issue.reload} />;
    }
  }
  const last = issue.value?.orders[0]?.order ?? {};
  return <OrderFields name={`order ${issueRef}`} initial={{ ...fillOrderForm(last), issueRef }} />;
}
