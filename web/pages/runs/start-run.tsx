import { toPath } from '../../app/route.js';
import { navigate, query } from '../../app/router.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { bindFields, FormCard, RequestFormView, useRequestForm, type FormPart } from '../../ui/form.js';
import { isProfile, Loaded, Button, Sentence } from '../../ui/parts.js';
import { checkRunForm, EMPTY_RUN_FORM, fillRunForm, addOtherFields, RUN_FIELD_MAP } from './run-form.js';
import type { OtherFields, RunForm } from './run-form.js';
import { t } from './texts.js';

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
    <Loaded resource={run} title={t.cannotLoadTheRun}>
      {({ spec }) => {
        const { form, otherFields } = fillRunForm(spec);
        return <RunFields draft={`run-from ${id}`} initial={form} otherFields={otherFields} />;
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
        purpose: t.startRuns,
        failureTitle: t.theRunWasNotStarted,
        unansweredTitle: t.theServerDidNotRespond,
        submit: t.startRun,
        sending: t.starting,
        effect: t.theRunIsQueuedImmediately,
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
        t.states.engine,
        t.theAgentToRunIt,
        engines.map((value) => ({ value, label: value === 'command' ? t.commandAnyAllowedCommand : value })),
      )}
      {form.isCommand ? (
        <>
          {select(
            'program',
            t.command,
            <Sentence
              text={commands.length === 0 ? t.theServersConfigurationAllowsNo : t.commandsAllowedByTheServers}
            />,
            commands,
          )}
          {area('parameters', t.arguments, t.onePerLineWithoutQuoting, { class: 'mono', rows: 3 })}
        </>
      ) : null}
      {form.isCommand
        ? area('prompt', t.input, t.optionalWrittenToTheCommands, { rows: 6 })
        : area('prompt', t.prompt, t.whatTheAgentShouldDo, { rows: 6 })}
      {text(
        'workdir',
        t.workingFolder,
        <>
          {t.aFolderOnTheServer} <code>{roots.length === 0 ? t.oneOfTheRoots : roots.join(t.or)}</code>
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
      {radio('permissions', t.permissions, [
        ['safe', t.safe, t.theEnginesSafestModeRead],
        ['workspace', t.workspace, t.mayChangeFilesInThe],
        ['bypass', t.bypass, canBypass ? t.mayDoEverythingThatThe : t.mayDoEverythingNotAllowed, !canBypass],
        ...(allowed.includes('ask') ? ([['ask', t.ask, t.asksAUserBeforeIt]] as const) : []),
      ])}
      {canAsk
        ? radio('mode', t.mode, [
            ['auto', t.auto, t.runsWithoutQuestionsTheAnswer],
            ['interactive', t.interactive, t.mayAskQuestionsTheRun],
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
      {radio('sandbox', t.sandbox, [
        ['auto', t.auto, t.usedIfTheWorkersHost],
        ['required', t.required, t.theRunFailsOnA],
        ['off', t.off, canBypass ? t.theAgentCanReadAnd : t.notAllowedByThisServers, !canBypass],
      ])}
      {sandbox === 'off'
        ? null
        : radio('network', t.states.network, [
            ['host', t.full, t.everythingThatTheHostCan],
            ['hosts', t.someHosts, t.onlyTheHostsListedBelow],
            ['none', t.none, t.theAgentCannotReachIts],
          ])}
      {sandbox === 'off' || network !== 'hosts'
        ? null
        : text('hosts', t.hosts, t.separatedBySpacesExampleOrg, { class: 'mono', spellcheck: false })}
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
      title={t.contract}
      note={t.whatTheAnswerMustLook}
      isOpen={hasSchema || form.errors.schema !== undefined || form.errors.maxRetries !== undefined}
    >
      {area('schema', t.jsonSchema, t.sentToTheAgentThe, {
        class: 'mono',
        rows: 7,
        spellcheck: false,
      })}
      <p>
        <Button label={t.insertAnExample} disabled={hasSchema} onClick={() => form.edit({ schema: EXAMPLE })} />
      </p>
      <div class="pair">
        {select('profile', t.profile, isProfile(profile) ? t.profiles[profile] : '', Object.keys(t.profiles))}
        {text('maxRetries', t.retries, t.howManyTimesARejected, {
          inputMode: 'numeric',
          size: 6,
        })}
      </div>
      {check('allowPartial', t.acceptATruncatedAnswer, t.usesThePartThatArrived)}
      {check('align', t.alignTheAnswerToThe, t.fixesNearMissesSuchAs)}
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
      title={t.limitsAndOptions}
      note={t.timeTokensCostModelEnvironment}
      isOpen={LIMIT_FIELDS.some((name) => form.errors[name] !== undefined)}
    >
      <div class="pair">
        {number('timeS', t.timeLimitInSeconds, t.forAllAttemptsTogetherDefault)}
        {number('idleS', t.idleLimitInSeconds, t.theRunEndsAfterThis)}
        {form.fields.mode === 'interactive' && !form.isCommand
          ? number('waitS', t.answerLimitInSeconds, t.howLongToWaitFor)
          : null}
        {number('tokens', t.tokenLimit, t.defaultOnlyTheEnginesOwn)}
        {number('cost', t.costLimitInUsDollars, t.comparedWithTheCostThat)}
        {form.isCommand ? null : text('model', t.states.model, t.defaultTheEnginesChoice)}
      </div>
      {text(
        'env',
        t.environmentVariablesToPass,
        allowedEnv.length === 0 ? t.noneAreAllowedByThe : t.namesSeparatedBySpacesAllowed(allowedEnv.join(', ')),
        { class: 'mono', disabled: allowedEnv.length === 0 && form.fields.env === '' },
      )}
      {select('cache', t.cache, t.whetherToReuseTheResult, [
        { value: 'off', label: t.doNotUse },
        { value: 'on', label: t.useACachedResultOr },
        { value: 'refresh', label: t.runAgainAndStoreThe },
      ])}
      {form.fields.cache === 'off'
        ? null
        : area('inputFiles', t.inputFiles, t.optionalOnePerLineInside, { class: 'mono', rows: 3 })}
    </FormCard>
  );
}
