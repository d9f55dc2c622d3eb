import { useSignal } from '@preact/signals';
import { toPath } from '../../app/route.js';
import { navigate, query } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FormFooter, useForm } from '../../ui/form.js';
import { FailureNotice, Loading, Notice, ChoicesFailure } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { ContractFields, LimitFields } from './contract-fields.js';
import { PermissionFields, SandboxFields, TaskFields } from './run-fields.js';
import { checkRunForm, EMPTY_RUN_FORM, fillRunForm, addOtherFields, RUN_FIELD_MAP } from './run-form.js';
import type { OtherFields, RunForm } from './run-form.js';

/** The form that starts a run: empty, or with the values of an earlier run. Input is kept until it is sent. */
export function StartRunForm() {
  const from = query.value.get('from');
  return from === null ? (
    <RunFields draft="run" initial={EMPTY_RUN_FORM} otherFields={NO_OTHER_FIELDS} />
  ) : (
    <FromRun id={from} />
  );
}

/** The form with the values of an earlier run. */
function FromRun({ id }: { readonly id: string }) {
  const run = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }));
  if (run.value === null) {
    if (run.failure === null) return <Loading />;
    return <FailureNotice title="Cannot load the run" failure={run.failure} reload={run.reload} />;
  }
  const { form, otherFields } = fillRunForm(run.value.spec);
  return <RunFields draft={`run from ${id}`} initial={form} otherFields={otherFields} />;
}

function RunFields({
  draft,
  initial,
  otherFields,
}: {
  readonly draft: string;
  readonly initial: RunForm;
  readonly otherFields: OtherFields;
}) {
  const { fields: storedDraft, change, discard } = useDraft(draft, initial);
  const choices = useResource('engines', async (signal) => client.listEngines({ signal }));
  // Once edited, the folder can also be empty.
  const isFolderEdited = useSignal(false);
  const { engines, commands, roots, permissions, env } = choices.value ?? NO_CHOICES;
  const fields = {
    ...storedDraft,
    engine: storedDraft.engine || (engines[0]?.name ?? ''),
    workdir: isFolderEdited.value ? storedDraft.workdir : storedDraft.workdir || (roots[0] ?? ''),
    program: storedDraft.program || (commands[0] ?? ''),
  };
  const { request, errors: localErrors } = checkRunForm(fields);
  const form = useForm(localErrors, RUN_FIELD_MAP, async () => {
    // The request id is stored before sending, so resubmitting the same form, even after a reload, returns the same
    // run.
    const requestId = fields.requestId || newRequestId();
    change({ ...fields, requestId });
    const { id } = await client.startRun({ body: { ...addOtherFields(request, otherFields), request_id: requestId } });
    discard();
    navigate(toPath({ page: 'run', id }));
  });
  const edit = (changes: Partial<RunForm>): void => {
    if (changes.workdir !== undefined) isFolderEdited.value = true;
    change({ ...changes, requestId: '' });
    form.clearRefusal();
  };

  if (!hasScope('run')) {
    return (
      <Notice tone="warn" title='Read-only: this token lacks the scope "run"'>
        Sign in with a token that has this scope to start runs.
      </Notice>
    );
  }
  if (choices.value === null && choices.failure === null) return <Loading />;
  const engine = engines.find(({ name }) => name === fields.engine);
  const part = { fields, errors: form.errors, edit, isCommand: engine?.takes === 'command' };
  return (
    <form ref={form.ref} class="long-form stack" noValidate onSubmit={form.submit}>
      <ChoicesFailure choices={choices} />
      <div class="form-columns">
        <div class="stack">
          <TaskFields {...part} engines={engines.map(({ name }) => name)} commands={commands} roots={roots} />
          <ContractFields {...part} />
          <LimitFields {...part} allowedEnv={env} />
        </div>
        <div class="stack card form-rights">
          {part.isCommand ? null : (
            <PermissionFields
              {...part}
              allowed={engine?.asks_permission === true ? permissions : permissions.filter((name) => name !== 'ask')}
              canAsk={engine?.can_ask !== false}
            />
          )}
          <SandboxFields {...part} canBypass={permissions.includes('bypass')} />
        </div>
        <div class="form-end-place">
          <FormFooter
            form={form}
            failureTitle="The run was not started"
            unansweredTitle="The server did not respond. Submit again: the run starts only once"
            submitLabel="Start run"
            sendingLabel="Starting …"
            onReset={() => {
              isFolderEdited.value = false;
              discard();
            }}
            effect="The run is queued immediately and can be canceled on its page."
          />
        </div>
      </div>
    </form>
  );
}

const NO_CHOICES: Pick<FormChoices, 'engines' | 'commands' | 'roots' | 'permissions' | 'env'> = {
  engines: [],
  commands: [],
  roots: [],
  permissions: [],
  env: [],
};
type FormChoices = Awaited<ReturnType<typeof client.listEngines>>;
const NO_OTHER_FIELDS: OtherFields = { limits: {} };
