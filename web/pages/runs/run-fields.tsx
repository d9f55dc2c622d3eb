import { LineField, LinesField, ListField, Choices } from '../../ui/fields.js';
import type { RunForm, Wrong } from './run-form.js';

/** Who does what, and where. */
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
        help="The agent that does the work. It has to be installed where the server runs."
        wrong={wrong.engine}
        value={fields.engine}
        onWrite={(engine) => edit({ engine })}
      >
        {engines.map((name) => (
          <option key={name} value={name}>
            {name === 'command' ? 'command: any other program' : name}
          </option>
        ))}
      </ListField>
      {isCommand ? <CommandFields fields={fields} wrong={wrong} edit={edit} commands={commands} /> : null}
      <LinesField
        id="prompt"
        label={isCommand ? 'Input' : 'Prompt'}
        help={
          isCommand
            ? 'What the program reads from its standard input; may stay empty.'
            : 'What the agent is asked to do, in your words.'
        }
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
            Where it works, on the machine of the server; one run at a time. It must lie under{' '}
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
            'One of those that the configuration of the server lists.'
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
        help="One a line, as they stand: nothing needs quotes."
        wrong={wrong.parameters}
        class="mono"
        rows={3}
        value={fields.parameters}
        onWrite={(parameters) => edit({ parameters })}
      />
    </>
  );
}

/** What the agent may do, and whether it may ask. */
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
          { value: 'safe', label: 'safe', help: 'The safest the engine has: it reads and answers.' },
          { value: 'workspace', label: 'workspace', help: 'It may change files in the working folder, nothing else.' },
          {
            value: 'bypass',
            label: 'bypass',
            help: mayBypass
              ? 'It may do anything the server’s user may, without being asked. For throw-away machines.'
              : 'It may do anything. The configuration of this server does not allow it.',
            isOff: !mayBypass,
          },
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
            { value: 'auto', label: 'auto', help: 'It works alone. What it answers is checked and decides.' },
            {
              value: 'interactive',
              label: 'interactive',
              help: 'It may ask: the run then waits for your reply and goes on in the same session.',
            },
          ]}
        />
      ) : null}
    </>
  );
}

/** What a part of the form is given. */
export interface FormPart {
  readonly fields: RunForm;
  readonly wrong: Wrong;
  readonly edit: (changes: Partial<RunForm>) => void;
  /** It is no agent: engine `command`. */
  readonly isCommand: boolean;
}
