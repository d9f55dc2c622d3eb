import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { navigate } from '../../app/router.js';
import { pathOf } from '../../app/route.js';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { refusalOf } from '../../server/refusal.js';
import type { Refusal } from '../../server/refusal.js';
import { useResource } from '../../server/use-resource.js';
import { Choices, Field } from '../../ui/field.js';
import { Notice } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { ContractFields } from './contract-fields.js';
import { LimitFields } from './limit-fields.js';
import { checkRunForm, EMPTY_RUN_FORM, RUN_PLACES } from './run-form.js';
import type { RunField } from './run-form.js';

/** Asks for everything a run needs, and says what each thing is for. What was written is kept until it is sent. */
export function StartRunForm() {
  const { fields: written, change, forget } = useDraft('run', EMPTY_RUN_FORM);
  const offer = useResource('engines', async (signal) => client.listEngines({ signal }));
  const refusal = useSignal<Refusal<RunField> | null>(null);
  const isTried = useSignal(false);
  const isSending = useSignal(false);
  const form = useRef<HTMLFormElement>(null);

  const engines = offer.value?.engines ?? [];
  const roots = offer.value?.roots ?? [];
  const fields = {
    ...written,
    engine: written.engine || (engines[0]?.name ?? ''),
    workdir: written.workdir || (roots[0] ?? ''),
    program: written.program || (offer.value?.commands[0] ?? ''),
  };
  const engine = engines.find(({ name }) => name === fields.engine);
  const checked = checkRunForm(fields);
  const wrong = isTried.value ? { ...refusal.value?.wrong, ...checked.wrong } : {};
  const edit = (changes: Parameters<typeof change>[0]): void => {
    change(changes);
    // What the server said was about what stood here before.
    refusal.value = null;
  };

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isTried.value = true;
    refusal.value = null;
    if (Object.keys(checked.wrong).length === 0) {
      isSending.value = true;
      try {
        const { id } = await client.startRun({ body: checked.request });
        forget();
        navigate(pathOf({ page: 'run', id }));
        return;
      } catch (error) {
        refusal.value = refusalOf(error, RUN_PLACES);
      } finally {
        isSending.value = false;
      }
    }
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };

  if (!may('run')) {
    return (
      <Notice tone="warn" title="You may look, not start runs">
        A token with the scope <code>run</code> may.
      </Notice>
    );
  }
  // What the server offers decides how high the form is: it is drawn once, with all of it.
  if (offer.value === null && offer.failure === null) {
    return (
      <p class="loading" aria-busy="true">
        Loading …
      </p>
    );
  }
  if (offer.value === null && offer.failure === null) return <p class="loading">Loading …</p>;
  const isCommand = engine?.takes === 'command';
  return (
    <form ref={form} class="start-run stack" noValidate onSubmit={(event) => void submit(event)}>
      {offer.failure === null ? null : (
        <Notice
          tone="bad"
          title="What the server offers could not be read"
          action={{ label: 'Try again', run: offer.reload }}
        >
          {offer.failure.message} What you write here stays.
        </Notice>
      )}
      <Field
        id="engine"
        label="Engine"
        help="The agent that does the work. It has to be installed where the server runs."
        wrong={wrong.engine}
      >
        {(control) => (
          <select {...control} value={fields.engine} onChange={(event) => edit({ engine: event.currentTarget.value })}>
            {engines.map(({ name }) => (
              <option key={name} value={name}>
                {name === 'command' ? 'command: any other program' : name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isCommand ? (
        <>
          <Field
            id="program"
            label="Program"
            help={
              offer.value?.commands.length === 0
                ? 'The configuration of the server lists no programs under `commands`, so none can be started from here.'
                : 'One of those that the configuration of the server lists.'
            }
            wrong={wrong.program}
          >
            {(control) => (
              <select
                {...control}
                value={fields.program}
                onChange={(event) => edit({ program: event.currentTarget.value })}
              >
                {(offer.value?.commands ?? []).map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Field
            id="parameters"
            label="Arguments"
            help="One a line, as they stand: nothing needs quotes."
            wrong={wrong.parameters}
          >
            {(control) => (
              <textarea
                {...control}
                class="mono"
                rows={3}
                value={fields.parameters}
                onInput={(event) => edit({ parameters: event.currentTarget.value })}
              />
            )}
          </Field>
        </>
      ) : null}
      <Field
        id="prompt"
        label={isCommand ? 'Input' : 'Prompt'}
        help={
          isCommand
            ? 'What the program reads from its standard input; may stay empty.'
            : 'What the agent is asked to do, in your words.'
        }
        wrong={wrong.prompt}
      >
        {(control) => (
          <textarea
            {...control}
            rows={6}
            value={fields.prompt}
            onInput={(event) => edit({ prompt: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        id="workdir"
        label="Working folder"
        help={
          <>
            Where it works, on the machine of the server; one run at a time. It must lie under{' '}
            {roots.length === 0 ? 'one of the `roots`' : null}
            {roots.map((root, index) => (
              <span key={root}>
                {index === 0 ? '' : ' or '}
                <code>{root}</code>
              </span>
            ))}
            .
          </>
        }
        wrong={wrong.workdir}
      >
        {(control) => (
          <input
            {...control}
            type="text"
            class="mono"
            list="roots"
            spellcheck={false}
            value={fields.workdir}
            onInput={(event) => edit({ workdir: event.currentTarget.value })}
          />
        )}
      </Field>
      <datalist id="roots">
        {roots.map((root) => (
          <option key={root} value={root} />
        ))}
      </datalist>
      <Choices
        name="permissions"
        legend="Permissions"
        value={fields.permissions}
        wrong={wrong.permissions}
        onChange={(permissions) => edit({ permissions })}
        options={[
          { value: 'safe', label: 'safe', help: 'The safest the engine has: it reads and answers.' },
          { value: 'workspace', label: 'workspace', help: 'It may change files in the working folder, nothing else.' },
          {
            value: 'bypass',
            label: 'bypass',
            help:
              offer.value?.permissions.includes('bypass') === true
                ? 'It may do anything the server’s user may, without being asked. For throw-away machines.'
                : 'It may do anything. The configuration of this server does not allow it.',
            isOff: offer.value?.permissions.includes('bypass') !== true,
          },
        ]}
      />
      {engine?.can_ask === false ? null : (
        <Choices
          name="mode"
          legend="Mode"
          value={fields.mode}
          wrong={wrong.mode}
          onChange={(mode) => edit({ mode })}
          options={[
            { value: 'auto', label: 'auto', help: 'It works alone. What it answers is checked and decides.' },
            {
              value: 'interactive',
              label: 'interactive',
              help: 'It may ask: the run then waits for your reply and goes on in the same session.',
            },
          ]}
        />
      )}
      <ContractFields fields={fields} wrong={wrong} edit={edit} />
      <LimitFields
        fields={fields}
        wrong={wrong}
        edit={edit}
        allowedEnv={offer.value?.env ?? []}
        isCommand={isCommand}
      />
      <div aria-live="assertive">
        {refusal.value === null || refusal.value.message === null ? null : (
          <Notice tone="bad" title="The run was not started">
            {refusal.value.message} <code>{refusal.value.code}</code>
          </Notice>
        )}
        {isTried.value && Object.keys(wrong).length > 0 ? (
          <p class="wrong">Not started yet: look at what is marked above.</p>
        ) : null}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={isSending.value}>
          {isSending.value ? 'Starting …' : 'Start the run'}
        </button>
        <button type="button" onClick={forget}>
          Empty the form
        </button>
        <span class="dim">It is queued at once and can be canceled from its page.</span>
      </div>
    </form>
  );
}
