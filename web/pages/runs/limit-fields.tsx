import { Field } from '../../ui/field.js';
import type { FormPart } from './form-part.js';

/** What a run may cost, and what few need. */
export function LimitFields({
  fields,
  wrong,
  edit,
  allowedEnv,
  isCommand,
}: FormPart & { readonly allowedEnv: readonly string[] }) {
  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost', label: string, help: string) => (
    <Field id={field} label={label} help={help} wrong={wrong[field]}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          size={10}
          value={fields[field]}
          onInput={(event) => edit({ [field]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
  const isTouched = NAMES.some((name) => wrong[name] !== undefined);
  return (
    <details class="card" open={isTouched}>
      <summary>
        <strong>Limits and more</strong> <span class="dim">time, tokens, cost, model, environment, kept results</span>
      </summary>
      <div class="stack">
        <div class="pair">
          {number('timeS', 'Time, in seconds', 'Of work, all attempts together. An hour if you say nothing.')}
          {number(
            'idleS',
            'Silence, in seconds',
            'Without a byte for this long it is ended. Ten minutes if you say nothing.',
          )}
          {fields.mode === 'interactive' && !isCommand
            ? number('waitS', 'Wait for a reply, in seconds', 'A week if you say nothing.')
            : null}
          {number('tokens', 'Tokens', 'As many as the engine allows if you say nothing.')}
          {number('cost', 'Cost, in US dollars', 'As the engine reports it.')}
          {isCommand ? null : (
            <Field id="model" label="Model" help="The engine’s own choice if you say nothing." wrong={wrong.model}>
              {(control) => (
                <input
                  {...control}
                  type="text"
                  value={fields.model}
                  onInput={(event) => edit({ model: event.currentTarget.value })}
                />
              )}
            </Field>
          )}
        </div>
        <Field
          id="env"
          label="Environment variables handed on"
          help={
            allowedEnv.length === 0
              ? 'The configuration of the server allows none.'
              : `Names, with spaces between. Allowed: ${allowedEnv.join(', ')}.`
          }
          wrong={wrong.env}
        >
          {(control) => (
            <input
              {...control}
              type="text"
              class="mono"
              disabled={allowedEnv.length === 0 && fields.env === ''}
              value={fields.env}
              onInput={(event) => edit({ env: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field
          id="cache"
          label="Kept results"
          help="The result of an earlier run that was asked the same can be given again without starting anything."
          wrong={wrong.cache}
        >
          {(control) => (
            <select {...control} value={fields.cache} onChange={(event) => edit({ cache: event.currentTarget.value })}>
              <option value="off">do not use them</option>
              <option value="on">use one, or keep this one</option>
              <option value="refresh">run anew and keep it</option>
            </select>
          )}
        </Field>
        {fields.cache === 'off' ? null : (
          <Field
            id="input-files"
            label="Files the answer depends on"
            help="One a line, within the working folder. When one of them changes, a kept result does not count; empty if there are none."
            wrong={wrong.inputFiles}
          >
            {(control) => (
              <textarea
                {...control}
                class="mono"
                rows={3}
                value={fields.inputFiles}
                onInput={(event) => edit({ inputFiles: event.currentTarget.value })}
              />
            )}
          </Field>
        )}
      </div>
    </details>
  );
}

const NAMES = ['timeS', 'idleS', 'waitS', 'tokens', 'cost', 'model', 'env', 'cache', 'inputFiles'] as const;
