import { LineField, LinesField, ListField, Choices } from '../../ui/fields.js';
import type { RunForm, Wrong } from './run-form.js';

/** The engine, the task and the folder. */
export function TaskFields({
  fields,
  wrong,
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
      <ListField
        id="engine"
        label="Engine"
        help="The agent to run. It must be installed on the server."
        wrong={wrong.engine}
        value={fields.engine}
        onWrite={(engine) => edit({ engine })}
      >
        {engines.map((name) => (
          <option key={name} value={name}>
            {name === 'command' ? 'command: another program' : name}
          </option>
        ))}
      </ListField>
      {isCommand ? <CommandFields fields={fields} wrong={wrong} edit={edit} commands={commands} /> : null}
      <LinesField
        id="prompt"
        label={isCommand ? 'Input' : 'Prompt'}
        help={isCommand ? 'Optional. Written to the program’s standard input.' : 'What the agent should do.'}
        wrong={wrong.prompt}
        rows={6}
        value={fields.prompt}
        onWrite={(prompt) => edit({ prompt })}
      />
      <LineField
        id="workdir"
        label="Working folder"
        help={
          <>
            Folder on the server, used by one run at a time. Must be under{' '}
            <code>{roots.length === 0 ? 'one of the roots' : roots.join(' or ')}</code>.
          </>
        }
        wrong={wrong.workdir}
        type="text"
        class="mono"
        list="roots"
        spellcheck={false}
        value={fields.workdir}
        onWrite={(workdir) => edit({ workdir })}
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
  wrong,
  edit,
  commands,
}: Omit<FormPart, 'isCommand'> & { readonly commands: readonly string[] }) {
  return (
    <>
      <ListField
        id="program"
        label="Program"
        help={
          commands.length === 0 ? (
            <>
              The configuration of the server lists no programs under <code>commands</code>, so none can be started from
              here.
            </>
          ) : (
            'Programs allowed by the server’s configuration.'
          )
        }
        wrong={wrong.program}
        value={fields.program}
        onWrite={(program) => edit({ program })}
      >
        {commands.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </ListField>
      <LinesField
        id="parameters"
        label="Arguments"
        help="One per line, without quoting."
        wrong={wrong.parameters}
        class="mono"
        rows={3}
        value={fields.parameters}
        onWrite={(parameters) => edit({ parameters })}
      />
    </>
  );
}

/** The agent's permissions, and whether it may ask. */
export function RightsFields({
  fields,
  wrong,
  edit,
  allowed,
  canAsk,
}: FormPart & { readonly allowed: readonly string[]; readonly canAsk: boolean }) {
  const mayBypass = allowed.includes('bypass');
  return (
    <>
      <Choices
        name="permissions"
        legend="Permissions"
        value={fields.permissions}
        wrong={wrong.permissions}
        onChange={(permissions) => edit({ permissions })}
        options={[
          { value: 'safe', label: 'safe', help: 'The engine’s safest mode: read-only.' },
          { value: 'workspace', label: 'workspace', help: 'May change files in the working folder only.' },
          {
            value: 'bypass',
            label: 'bypass',
            help: mayBypass
              ? 'May do anything the server’s user can do, without asking. For disposable machines.'
              : 'May do anything. Not allowed by this server’s configuration.',
            isOff: !mayBypass,
          },
          ...(allowed.includes('ask')
            ? [
                {
                  value: 'ask',
                  label: 'ask',
                  help: 'Asks before it changes something; rules of the configuration decide first.',
                },
              ]
            : []),
        ]}
      />
      {canAsk ? (
        <Choices
          name="mode"
          legend="Mode"
          value={fields.mode}
          wrong={wrong.mode}
          onChange={(mode) => edit({ mode })}
          options={[
            { value: 'auto', label: 'auto', help: 'Runs without questions; the answer is validated.' },
            {
              value: 'interactive',
              label: 'interactive',
              help: 'May ask questions; the run waits for your reply and continues in the same session.',
            },
          ]}
        />
      ) : null}
    </>
  );
}

/** The sandbox of the program, and its network. */
export function SandboxFields({ fields, wrong, edit, mayBypass }: FormPart & { readonly mayBypass: boolean }) {
  return (
    <>
      <Choices
        name="sandbox"
        legend="Sandbox"
        value={fields.sandbox}
        wrong={wrong.sandbox}
        onChange={(sandbox) => edit({ sandbox })}
        options={[
          {
            value: 'auto',
            label: 'auto',
            help: 'If available on the worker’s machine; the run shows whether it was used.',
          },
          { value: 'required', label: 'required', help: 'The run fails on a machine without one.' },
          {
            value: 'off',
            label: 'off',
            help: mayBypass
              ? 'May read and write what the server’s user can.'
              : 'Not allowed by this server’s configuration.',
            isOff: !mayBypass,
          },
        ]}
      />
      {fields.sandbox === 'off' ? null : (
        <Choices
          name="network"
          legend="Network"
          value={fields.network}
          onChange={(network) => edit({ network })}
          options={[
            { value: 'host', label: 'host', help: 'Everything the machine can reach.' },
            { value: 'hosts', label: 'some hosts', help: 'Only the hosts listed below, such as that of the model.' },
            { value: 'none', label: 'none', help: 'No network. An agent cannot reach its model.' },
          ]}
        />
      )}
      {fields.sandbox === 'off' || fields.network !== 'hosts' ? null : (
        <LineField
          id="hosts"
          label="Hosts"
          help="Separated by spaces. *.example.org matches all its subdomains; add a port after a colon."
          wrong={wrong.hosts}
          type="text"
          class="mono"
          spellcheck={false}
          value={fields.hosts}
          onWrite={(hosts) => edit({ hosts })}
        />
      )}
    </>
  );
}

/** The props of a part of the form. */
export interface FormPart {
  readonly fields: RunForm;
  readonly wrong: Wrong;
  readonly edit: (changes: Partial<RunForm>) => void;
  /** Engine `command`, which is not an agent. */
  readonly isCommand: boolean;
}
