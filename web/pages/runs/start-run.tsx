import { toPath } from '../../app/route.js';
import { navigate, query } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FormEnd, useForm } from '../../ui/form.js';
import { FailureNotice, Loading, Notice, OfferFailure } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { ContractFields, LimitFields } from './contract-fields.js';
import { RightsFields, SandboxFields, TaskFields } from './run-fields.js';
import { checkRunForm, EMPTY_RUN_FORM, fillRunForm, mergeKept, RUN_PLACES } from './run-form.js';
import type { KeptSpec, RunForm } from './run-form.js';

/** The form that starts a run: empty, or with the values of an earlier run. Input is kept until it is sent. */
export function StartRunForm() {
  const from = query.value.get('from');
  return from === null ? <RunFields draft="run" initial={EMPTY_RUN_FORM} kept={NOTHING_KEPT} /> : <FromRun id={from} />;
}

/** The form with the values of an earlier run. */
function FromRun({ id }: { readonly id: string }) {
  const run = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }));
  if (run.value === null) {
    if (run.failure === null) return <Loading />;
    return <FailureNotice title="Cannot load the run" failure={run.failure} reload={run.reload} />;
  }
  const { form, kept } = fillRunForm(run.value.spec);
  return <RunFields draft={`run from ${id}`} initial={form} kept={kept} />;
}

function RunFields({
  draft,
  initial,
  kept,
}: {
  readonly draft: string;
  readonly initial: RunForm;
  readonly kept: KeptSpec;
}) {
  const { fields: written, change, forget } = useDraft(draft, initial);
  const offer = useResource('engines', async (signal) => client.listEngines({ signal }));
  const { engines, commands, roots, permissions, env } = offer.value ?? NO_OFFER;
  const fields = {
    ...written,
    engine: written.engine || (engines[0]?.name ?? ''),
    workdir: written.workdir || (roots[0] ?? ''),
    program: written.program || (commands[0] ?? ''),
  };
  const { request, wrong: wrongHere } = checkRunForm(fields);
  const form = useForm(wrongHere, RUN_PLACES, async () => {
    // Stored before sending: submitting the same form again, even after a reload, returns the same run.
    const requestId = fields.requestId || newRequestId();
    change({ ...fields, requestId });
    const { id } = await client.startRun({ body: { ...mergeKept(request, kept), request_id: requestId } });
    forget();
    navigate(toPath({ page: 'run', id }));
  });
  const edit = (changes: Partial<RunForm>): void => {
    change({ ...changes, requestId: '' });
    form.touch();
  };

  if (!hasScope('run')) {
    return (
      <Notice tone="warn" title="Read-only: this token lacks the scope run">
        To start runs, sign in with a token that has this scope.
      </Notice>
    );
  }
  if (offer.value === null && offer.failure === null) return <Loading />;
  const engine = engines.find(({ name }) => name === fields.engine);
  const part = { fields, wrong: form.wrong, edit, isCommand: engine?.takes === 'command' };
  return (
    <form ref={form.ref} class="long-form stack" noValidate onSubmit={form.submit}>
      <OfferFailure offer={offer} />
      <div class="form-columns">
        <div class="stack">
          <TaskFields {...part} engines={engines.map(({ name }) => name)} commands={commands} roots={roots} />
          <ContractFields {...part} />
          <LimitFields {...part} allowedEnv={env} />
        </div>
        <div class="stack card form-rights">
          {part.isCommand ? null : (
            <RightsFields
              {...part}
              allowed={engine?.asks_permission === true ? permissions : permissions.filter((one) => one !== 'ask')}
              canAsk={engine?.can_ask !== false}
            />
          )}
          <SandboxFields {...part} mayBypass={permissions.includes('bypass')} />
        </div>
        <div class="form-end-place">
          <FormEnd
            form={form}
            not="The run was not started"
            unanswered="The server did not answer. Send again: the run starts only once"
            send="Start the run"
            sending="Starting …"
            empty="Clear form"
            onEmpty={forget}
            then="The run is queued immediately and can be canceled from its page."
          />
        </div>
      </div>
    </form>
  );
}

const NO_OFFER: Pick<Offer, 'engines' | 'commands' | 'roots' | 'permissions' | 'env'> = {
  engines: [],
  commands: [],
  roots: [],
  permissions: [],
  env: [],
};
type Offer = Awaited<ReturnType<typeof client.listEngines>>;
const NOTHING_KEPT: KeptSpec = { limits: {} };
