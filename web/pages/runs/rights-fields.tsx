import { Choices } from '../../ui/field.js';
import type { FormPart } from './form-part.js';

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
