import { Switch, LineField, LinesField, ListField } from '../../ui/fields.js';
import { isProfile, PROFILES } from '../../ui/profile-words.js';
import type { FormPart } from './run-fields.js';

const EXAMPLE = `{
  "type": "object",
  "properties": { "summary": { "type": "string" } },
  "required": ["summary"]
}`;

/** What the answer must be. */
export function ContractFields({ fields, wrong, edit }: FormPart) {
  const hasSchema = fields.schema.trim() !== '';
  return (
    <details class="card" open={hasSchema || wrong.schema !== undefined || wrong.maxRetries !== undefined}>
      <summary>
        <strong>Contract</strong> <span class="dim">what the answer must be; without one a clean end is a success</span>
      </summary>
      <div class="stack">
        <LinesField
          id="schema"
          label="JSON Schema"
          help="The agent is told it, and its answer only counts if it fits. Draft 2020-12."
          wrong={wrong.schema}
          class="mono"
          rows={7}
          spellcheck={false}
          value={fields.schema}
          onWrite={(schema) => edit({ schema })}
        />
        <p>
          <button type="button" disabled={hasSchema} onClick={() => edit({ schema: EXAMPLE })}>
            Begin with an example
          </button>
        </p>
        <div class="pair">
          <ListField
            id="profile"
            label="Profile"
            help={isProfile(fields.profile) ? PROFILES[fields.profile] : ''}
            wrong={wrong.profile}
            value={fields.profile}
            onWrite={(profile) => edit({ profile })}
          >
            {Object.keys(PROFILES).map((profile) => (
              <option key={profile}>{profile}</option>
            ))}
          </ListField>
          <LineField
            id="max-retries"
            label="Retries"
            help="How often an answer that does not fit is sent back with what was wrong."
            wrong={wrong.maxRetries}
            inputMode="numeric"
            size={6}
            value={fields.maxRetries}
            onWrite={(maxRetries) => edit({ maxRetries })}
          />
        </div>
        <Switch
          id="allow-partial"
          label="Take an answer that was cut off"
          help="What came before the cut counts if it fits the schema; a warning says so."
          isOn={fields.allowPartial}
          onChange={(allowPartial) => edit({ allowPartial })}
        />
        <Switch
          id="align"
          label="Align a near miss with the schema"
          help="A number sent as text, a key in other letters. Every change is recorded; nothing is made up."
          isOn={fields.align}
          onChange={(align) => edit({ align })}
        />
      </div>
    </details>
  );
}

/** What a run may cost, and what few need. */
export function LimitFields({
  fields,
  wrong,
  edit,
  allowedEnv,
  isCommand,
}: FormPart & { readonly allowedEnv: readonly string[] }) {
  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost', label: string, help: string) => (
    <LineField
      id={field}
      label={label}
      help={help}
      wrong={wrong[field]}
      inputMode="decimal"
      size={10}
      value={fields[field]}
      onWrite={(value) => edit({ [field]: value })}
    />
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
            <LineField
              id="model"
              label="Model"
              help="The engine’s own choice if you say nothing."
              wrong={wrong.model}
              type="text"
              value={fields.model}
              onWrite={(model) => edit({ model })}
            />
          )}
        </div>
        <LineField
          id="env"
          label="Environment variables handed on"
          help={
            allowedEnv.length === 0
              ? 'The configuration of the server allows none.'
              : `Names, with spaces between. Allowed: ${allowedEnv.join(', ')}.`
          }
          wrong={wrong.env}
          type="text"
          class="mono"
          disabled={allowedEnv.length === 0 && fields.env === ''}
          value={fields.env}
          onWrite={(env) => edit({ env })}
        />
        <ListField
          id="cache"
          label="Kept results"
          help="The result of an earlier run that was asked the same can be given again without starting anything."
          wrong={wrong.cache}
          value={fields.cache}
          onWrite={(cache) => edit({ cache })}
        >
          <option value="off">do not use them</option>
          <option value="on">use one, or keep this one</option>
          <option value="refresh">run anew and keep it</option>
        </ListField>
        {fields.cache === 'off' ? null : (
          <LinesField
            id="input-files"
            label="Files the answer depends on"
            help="One a line, within the working folder. When one of them changes, a kept result does not count; empty if there are none."
            wrong={wrong.inputFiles}
            class="mono"
            rows={3}
            value={fields.inputFiles}
            onWrite={(inputFiles) => edit({ inputFiles })}
          />
        )}
      </div>
    </details>
  );
}

const NAMES = ['timeS', 'idleS', 'waitS', 'tokens', 'cost', 'model', 'env', 'cache', 'inputFiles'] as const;
