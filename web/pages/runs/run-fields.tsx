import { TextField, TextAreaField, SelectField, RadioField } from '../../ui/fields.js';
import type { RunForm, RunErrors } from './run-form.js';

/** Fields for the engine, the task and the folder. */
export function TaskFields({
  fields,
  errors,
  edit,
  isCommand,
  engines,
  commands,
  roots,
}: FormPart & {
  readonly engines: readonly string[];
  readonly commands: readonly string[];
  readonly roots: readonly string[];
}) {
  return (
    <>
      <SelectField
        id="engine"
        label="Engine"
        help="The agent to run. It must be installed on the server."
        error={errors.engine}
        value={fields.engine}
        onChange={(engine) => edit({ engine })}
      >
        {engines.map((name) => (
          <option key={name} value={name}>
            {name === 'command' ? 'command (any allowed command)' : name}
          </option>
        ))}
      </SelectField>
      {isCommand ? <CommandFields fields={fields} errors={errors} edit={edit} commands={commands} /> : null}
      <TextAreaField
        id="prompt"
        label={isCommand ? 'Input' : 'Prompt'}
        help={isCommand ? 'Optional. Written to the command’s standard input.' : 'What the agent should do.'}
        error={errors.prompt}
        rows={6}
        value={fields.prompt}
        onChange={(prompt) => edit({ prompt })}
      />
      <TextField
        id="workdir"
        label="Working folder"
        help={
          <>
            A folder on the server, used by one run at a time. It must be inside{' '}
            <code>{roots.length === 0 ? 'one of the roots' : roots.join(' or ')}</code>.
          </>
        }
        error={errors.workdir}
        type="text"
        class="mono"
        list="roots"
        spellcheck={false}
        value={fields.workdir}
        onChange={(workdir) => edit({ workdir })}
      />
      <datalist id="roots">
        {roots.map((root) => (
          <option key={root} value={root} />
        ))}
      </datalist>
    </>
  );
}

function CommandFields({
  fields,
  errors,
  edit,
  commands,
}: Omit<FormPart, 'isCommand'> & { readonly commands: readonly string[] }) {
  return (
    <>
      <SelectField
        id="program"
        label="Command"
        help={
          commands.length === 0 ? (
            <>
              The server’s configuration allows no commands. List them under <code>commands</code> to start them here.
            </>
          ) : (
            'Commands allowed by the server’s configuration.'
          )
        }
        error={errors.program}
        value={fields.program}
        onChange={(program) => edit({ program })}
      >
        {commands.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <TextAreaField
        id="parameters"
        label="Arguments"
        help="One per line, without quoting."
        error={errors.parameters}
        class="mono"
        rows={3}
        value={fields.parameters}
        onChange={(parameters) => edit({ parameters })}
      />
    </>
  );
}

/** Fields for the agent's permissions, and whether it may ask questions. */
export function PermissionFields({
  fields,
  errors,
  edit,
  allowed,
  canAsk,
}: FormPart & { readonly allowed: readonly string[]; readonly canAsk: boolean }) {
  const canBypass = allowed.includes('bypass');
  return (
    <>
      <RadioField
        name="permissions"
        legend="Permissions"
        value={fields.permissions}
        error={errors.permissions}
        onChange={(permissions) => edit({ permissions })}
        options={[
          { value: 'safe', label: 'Safe', help: 'The engine’s safest mode: read-only.' },
          { value: 'workspace', label: 'Workspace', help: 'May change files in the working folder only.' },
          {
            value: 'bypass',
            label: 'Bypass',
            help: canBypass
              ? 'May do everything that the server’s user can do, without asking. For disposable hosts only.'
              : 'May do everything. Not allowed by this server’s configuration.',
            isDisabled: !canBypass,
          },
          ...(allowed.includes('ask')
            ? [
                {
                  value: 'ask',
                  label: 'Ask',
                  help: 'Asks a user before it changes anything, unless a configured rule decides.',
                },
              ]
            : []),
        ]}
      />
      {canAsk ? (
        <RadioField
          name="mode"
          legend="Mode"
          value={fields.mode}
          error={errors.mode}
          onChange={(mode) => edit({ mode })}
          options={[
            { value: 'auto', label: 'Auto', help: 'Runs without questions; the answer is validated.' },
            {
              value: 'interactive',
              label: 'Interactive',
              help: 'May ask questions; the run waits for your answer and continues in the same session.',
            },
          ]}
        />
      ) : null}
    </>
  );
}

/** Fields for the sandbox and the network. */
export function SandboxFields({ fields, errors, edit, canBypass }: FormPart & { readonly canBypass: boolean }) {
  return (
    <>
      <RadioField
        name="sandbox"
        legend="Sandbox"
        value={fields.sandbox}
        error={errors.sandbox}
        onChange={(sandbox) => edit({ sandbox })}
        options={[
          {
            value: 'auto',
            label: 'Auto',
            help: 'Used if the worker’s host supports it. The run shows whether it was used.',
          },
          { value: 'required', label: 'Required', help: 'The run fails on a host without a sandbox.' },
          {
            value: 'off',
            label: 'Off',
            help: canBypass
              ? 'The agent can read and write everything that the server’s user can.'
              : 'Not allowed by this server’s configuration.',
            isDisabled: !canBypass,
          },
        ]}
      />
      {fields.sandbox === 'off' ? null : (
        <RadioField
          name="network"
          legend="Network"
          value={fields.network}
          onChange={(network) => edit({ network })}
          options={[
            { value: 'host', label: 'Full', help: 'Everything that the host can reach.' },
            {
              value: 'hosts',
              label: 'Some hosts',
              help: 'Only the hosts listed below, such as the model’s API.',
            },
            { value: 'none', label: 'None', help: 'The agent cannot reach its model.' },
          ]}
        />
      )}
      {fields.sandbox === 'off' || fields.network !== 'hosts' ? null : (
        <TextField
          id="hosts"
          label="Hosts"
          help="Separated by spaces. *.example.org matches all subdomains. Add a port after a colon."
          error={errors.hosts}
          type="text"
          class="mono"
          spellcheck={false}
          value={fields.hosts}
          onChange={(hosts) => edit({ hosts })}
        />
      )}
    </>
  );
}

/** The props of a form section. */
export interface FormPart {
  readonly fields: RunForm;
  readonly errors: RunErrors;
  readonly edit: (changes: Partial<RunForm>) => void;
  /** Whether the engine is `command`, which is not an agent. */
  readonly isCommand: boolean;
}
