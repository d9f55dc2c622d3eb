import { toPath } from '../../app/route.js';
import { navigate, query } from '../../app/router.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { bindFields, FormCard, RequestFormView, useRequestForm, type FormPart } from '../../ui/form.js';
import { isProfile, PROFILES } from '../../ui/json-labels.js';
import { Loaded } from '../../ui/notice.js';
import { checkRunForm, EMPTY_RUN_FORM, fillRunForm, addOtherFields, RUN_FIELD_MAP } from './run-form.js';
import { Button } from '../../ui/button.js';
import type { OtherFields, RunForm } from './run-form.js';

/** The form that starts a run: empty, or with the values of an earlier run. Input is kept until it is sent. */
export function StartRunForm() {
  const from = query.value.get('from');
  return from === null ? (
    <RunFields draft="run" initial={EMPTY_RUN_FORM} otherFields={{ limits: {} }} />
  ) : (
    <FromRun id={from} />
  );
}

function FromRun({ id }: Readonly<{ id: string }>) {
  const run = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }));
  return (
    <Loaded resource={run} title="Cannot load the run">
      {({ spec }) => {
        const { form, otherFields } = fillRunForm(spec);
        return <RunFields draft={`run from ${id}`} initial={form} otherFields={otherFields} />;
      }}
    </Loaded>
  );
}

type Choices = Awaited<ReturnType<typeof client.listEngines>>;
function RunFields(props: Readonly<{ draft: string; initial: RunForm; otherFields: OtherFields }>) {
  const choices = useResource('engines', async (signal) => client.listEngines({ signal }));
  const { engines = [], commands = [], roots = [], permissions = [], env = [] } = choices.value ?? {};
  const form = useRequestForm({
    draft: props.draft,
    initial: props.initial,
    defaults: { engine: engines[0]?.name ?? '', workdir: roots[0] ?? '', program: commands[0] ?? '' },
    check: checkRunForm,
    fieldMap: RUN_FIELD_MAP,
    send: async (request) => {
      const { id } = await client.startRun({ body: addOtherFields(request, props.otherFields) });
      navigate(toPath({ page: 'run', id }));
    },
  });
  const engine = engines.find(({ name }) => name === form.fields.engine);
  const part = { fields: form.fields, errors: form.errors, edit: form.edit, isCommand: engine?.input === 'command' };
  return (
    <RequestFormView
      form={form}
      choices={choices}
      texts={{
        purpose: 'start runs',
        failureTitle: 'The run was not started',
        unansweredTitle: 'The server did not respond. Submit again: the run starts only once',
        submit: 'Start run',
        sending: 'Starting …',
        effect: 'The run is queued immediately and can be canceled on its page.',
      }}
    >
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
    </RequestFormView>
  );
}

/** The props of a form section. `isCommand`: the engine is `command`, which is not an agent. */
type Part<More = unknown> = FormPart<RunForm> & { readonly isCommand: boolean } & Readonly<More>;

function TaskFields({
  engines,
  commands,
  roots,
  ...form
}: Part<Pick<Choices, 'commands' | 'roots'> & { engines: readonly string[] }>) {
  const { text, area, select } = bindFields(form);
  return (
    <>
      {select(
        'engine',
        'Engine',
        'The agent to run. It must be installed on the server.',
        engines.map((value) => ({ value, label: value === 'command' ? 'command (any allowed command)' : value })),
      )}
      {form.isCommand ? (
        <>
          {select(
            'program',
            'Command',
            commands.length === 0 ? (
              <>
                The server’s configuration allows no commands. List them under <code>commands</code> to start them here.
              </>
            ) : (
              'Commands allowed by the server’s configuration.'
            ),
            commands,
          )}
          {area('parameters', 'Arguments', 'One per line, without quoting.', { class: 'mono', rows: 3 })}
        </>
      ) : null}
      {form.isCommand
        ? area('prompt', 'Input', 'Optional. Written to the command’s standard input.', { rows: 6 })
        : area('prompt', 'Prompt', 'What the agent should do.', { rows: 6 })}
      {text(
        'workdir',
        'Working folder',
        <>
          A folder on the server, used by one run at a time. It must be inside{' '}
          <code>{roots.length === 0 ? 'one of the roots' : roots.join(' or ')}</code>.
        </>,
        { class: 'mono', list: 'roots', spellcheck: false },
      )}
      <datalist id="roots">
        {roots.map((root) => (
          <option key={root} value={root} />
        ))}
      </datalist>
    </>
  );
}

function PermissionFields({ allowed, canAsk, ...form }: Part<{ allowed: readonly string[]; canAsk: boolean }>) {
  const { radio } = bindFields(form);
  const canBypass = allowed.includes('bypass');
  return (
    <>
      {radio('permissions', 'Permissions', [
        ['safe', 'Safe', 'The engine’s safest mode: read-only.'],
        ['workspace', 'Workspace', 'May change files in the working folder only.'],
        [
          'bypass',
          'Bypass',
          canBypass
            ? 'May do everything that the server’s user can do, without asking. For disposable hosts only.'
            : 'May do everything. Not allowed by this server’s configuration.',
          !canBypass,
        ],
        ...(allowed.includes('ask')
          ? ([['ask', 'Ask', 'Asks a user before it changes anything, unless a configured rule decides.']] as const)
          : []),
      ])}
      {canAsk
        ? radio('mode', 'Mode', [
            ['auto', 'Auto', 'Runs without questions; the answer is validated.'],
            [
              'interactive',
              'Interactive',
              'May ask questions; the run waits for your answer and continues in the same session.',
            ],
          ])
        : null}
    </>
  );
}

function SandboxFields({ canBypass, ...form }: Part<{ canBypass: boolean }>) {
  const { radio, text } = bindFields(form);
  const { sandbox, network } = form.fields;
  return (
    <>
      {radio('sandbox', 'Sandbox', [
        ['auto', 'Auto', 'Used if the worker’s host supports it. The run shows whether it was used.'],
        ['required', 'Required', 'The run fails on a host without a sandbox.'],
        [
          'off',
          'Off',
          canBypass
            ? 'The agent can read and write everything that the server’s user can.'
            : 'Not allowed by this server’s configuration.',
          !canBypass,
        ],
      ])}
      {sandbox === 'off'
        ? null
        : radio('network', 'Network', [
            ['host', 'Full', 'Everything that the host can reach.'],
            ['hosts', 'Some hosts', 'Only the hosts listed below, such as the model’s API.'],
            ['none', 'None', 'The agent cannot reach its model.'],
          ])}
      {sandbox === 'off' || network !== 'hosts'
        ? null
        : text(
            'hosts',
            'Hosts',
            'Separated by spaces. *.example.org matches all subdomains. Add a port after a colon.',
            { class: 'mono', spellcheck: false },
          )}
    </>
  );
}

const EXAMPLE = `{
  "type": "object",
  "properties": { "summary": { "type": "string" } },
  "required": ["summary"]
}`;

function ContractFields(form: Part) {
  const { text, area, select, check } = bindFields(form);
  const { schema, profile } = form.fields;
  const hasSchema = schema.trim() !== '';
  return (
    <FormCard
      title="Contract"
      note="What the answer must look like. Without a contract, a clean exit is a success."
      isOpen={hasSchema || form.errors.schema !== undefined || form.errors.maxRetries !== undefined}
    >
      {area('schema', 'JSON Schema', 'Sent to the agent; the answer must match it. Draft 2020-12.', {
        class: 'mono',
        rows: 7,
        spellcheck: false,
      })}
      <p>
        <Button label="Insert an example" disabled={hasSchema} onClick={() => form.edit({ schema: EXAMPLE })} />
      </p>
      <div class="pair">
        {select('profile', 'Profile', isProfile(profile) ? PROFILES[profile] : '', Object.keys(PROFILES))}
        {text('maxRetries', 'Retries', 'How many times a rejected answer is sent back with its errors.', {
          inputMode: 'numeric',
          size: 6,
        })}
      </div>
      {check(
        'allowPartial',
        'Accept a truncated answer',
        'Uses the part that arrived if it matches the schema, and adds a warning.',
      )}
      {check(
        'align',
        'Align the answer to the schema',
        'Fixes near misses, such as a number sent as text. Every change is recorded, and no content is added.',
      )}
    </FormCard>
  );
}

const LIMIT_FIELDS = ['timeS', 'idleS', 'waitS', 'tokens', 'cost', 'model', 'env', 'cache', 'inputFiles'] as const;

function LimitFields({ allowedEnv, ...form }: Part<{ allowedEnv: readonly string[] }>) {
  const { text, area, select } = bindFields(form);
  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost', label: string, help: string) =>
    text(field, label, help, { inputMode: 'decimal', size: 10 });
  return (
    <FormCard
      title="Limits and options"
      note="Time, tokens, cost, model, environment, cache"
      isOpen={LIMIT_FIELDS.some((name) => form.errors[name] !== undefined)}
    >
      <div class="pair">
        {number('timeS', 'Time limit, in seconds', 'For all attempts together. Default: one hour.')}
        {number(
          'idleS',
          'Idle limit, in seconds',
          'The run ends after this long without output. Default: ten minutes.',
        )}
        {form.fields.mode === 'interactive' && !form.isCommand
          ? number('waitS', 'Answer limit, in seconds', 'How long to wait for an answer. Default: one day.')
          : null}
        {number('tokens', 'Token limit', 'Default: only the engine’s own limit.')}
        {number(
          'cost',
          'Cost limit, in US dollars',
          'Compared with the cost that the engine reports. Default: no limit.',
        )}
        {form.isCommand ? null : text('model', 'Model', 'Default: the engine’s choice.')}
      </div>
      {text(
        'env',
        'Environment variables to pass',
        allowedEnv.length === 0
          ? 'None are allowed by the server’s configuration.'
          : `Names separated by spaces. Allowed: ${allowedEnv.join(', ')}.`,
        { class: 'mono', disabled: allowedEnv.length === 0 && form.fields.env === '' },
      )}
      {select(
        'cache',
        'Cache',
        'Whether to reuse the result of an earlier identical run instead of starting the agent.',
        [
          { value: 'off', label: 'Do not use' },
          { value: 'on', label: 'Use a cached result, or store this one' },
          { value: 'refresh', label: 'Run again and store the result' },
        ],
      )}
      {form.fields.cache === 'off'
        ? null
        : area(
            'inputFiles',
            'Input files',
            'Optional. One per line, inside the working folder. A change to any of them invalidates the cached result.',
            { class: 'mono', rows: 3 },
          )}
    </FormCard>
  );
}
