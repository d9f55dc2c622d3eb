import { CheckboxField, TextField, TextAreaField, SelectField } from '../../ui/fields.js';
import { isProfile, PROFILES } from '../../ui/profiles.js';
import type { FormPart } from './run-fields.js';

const EXAMPLE = `{
  "type": "object",
  "properties": { "summary": { "type": "string" } },
  "required": ["summary"]
}`;

/** Fields for the answer's requirements. */
export function ContractFields({ fields, errors, edit }: FormPart) {
  const hasSchema = fields.schema.trim() !== '';
  return (
    <details class="card" open={hasSchema || errors.schema !== undefined || errors.maxRetries !== undefined}>
      <summary>
        <strong>Contract</strong>{' '}
        <span class="dim">What the answer must look like. Without a contract, a clean exit is a success.</span>
      </summary>
      <div class="stack">
        <TextAreaField
          id="schema"
          label="JSON Schema"
          help="Sent to the agent; the answer must match it. Draft 2020-12."
          error={errors.schema}
          class="mono"
          rows={7}
          spellcheck={false}
          value={fields.schema}
          onChange={(schema) => edit({ schema })}
        />
        <p>
          <button type="button" disabled={hasSchema} onClick={() => edit({ schema: EXAMPLE })}>
            Insert an example
          </button>
        </p>
        <div class="pair">
          <SelectField
            id="profile"
            label="Profile"
            help={isProfile(fields.profile) ? PROFILES[fields.profile] : ''}
            error={errors.profile}
            value={fields.profile}
            onChange={(profile) => edit({ profile })}
          >
            {Object.keys(PROFILES).map((profile) => (
              <option key={profile}>{profile}</option>
            ))}
          </SelectField>
          <TextField
            id="max-retries"
            label="Retries"
            help="How many times a rejected answer is sent back with its errors."
            error={errors.maxRetries}
            inputMode="numeric"
            size={6}
            value={fields.maxRetries}
            onChange={(maxRetries) => edit({ maxRetries })}
          />
        </div>
        <CheckboxField
          id="allow-partial"
          label="Accept a truncated answer"
          help="Uses the part that arrived if it matches the schema, and adds a warning."
          isOn={fields.allowPartial}
          onChange={(allowPartial) => edit({ allowPartial })}
        />
        <CheckboxField
          id="align"
          label="Align the answer to the schema"
          help="Fixes near misses, such as a number sent as text. Every change is recorded, and no content is added."
          isOn={fields.align}
          onChange={(align) => edit({ align })}
        />
      </div>
    </details>
  );
}

/** Fields for run limits and rarely used options. */
export function LimitFields({
  fields,
  errors,
  edit,
  allowedEnv,
  isCommand,
}: FormPart & { readonly allowedEnv: readonly string[] }) {
  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost', label: string, help: string) => (
    <TextField
      id={field}
      label={label}
      help={help}
      error={errors[field]}
      inputMode="decimal"
      size={10}
      value={fields[field]}
      onChange={(value) => edit({ [field]: value })}
    />
  );
  const hasError = FIELD_NAMES.some((name) => errors[name] !== undefined);
  return (
    <details class="card" open={hasError}>
      <summary>
        <strong>Limits and options</strong> <span class="dim">Time, tokens, cost, model, environment, cache</span>
      </summary>
      <div class="stack">
        <div class="pair">
          {number('timeS', 'Time limit, in seconds', 'For all attempts together. Default: one hour.')}
          {number(
            'idleS',
            'Idle limit, in seconds',
            'The run ends after this long without output. Default: ten minutes.',
          )}
          {fields.mode === 'interactive' && !isCommand
            ? number('waitS', 'Answer limit, in seconds', 'How long to wait for an answer. Default: one day.')
            : null}
          {number('tokens', 'Token limit', 'Default: only the engine’s own limit.')}
          {number(
            'cost',
            'Cost limit, in US dollars',
            'Compared with the cost that the engine reports. Default: no limit.',
          )}
          {isCommand ? null : (
            <TextField
              id="model"
              label="Model"
              help="Default: the engine’s choice."
              error={errors.model}
              type="text"
              value={fields.model}
              onChange={(model) => edit({ model })}
            />
          )}
        </div>
        <TextField
          id="env"
          label="Environment variables to pass"
          help={
            allowedEnv.length === 0
              ? 'None are allowed by the server’s configuration.'
              : `Names separated by spaces. Allowed: ${allowedEnv.join(', ')}.`
          }
          error={errors.env}
          type="text"
          class="mono"
          disabled={allowedEnv.length === 0 && fields.env === ''}
          value={fields.env}
          onChange={(env) => edit({ env })}
        />
        <SelectField
          id="cache"
          label="Cache"
          help="Whether to reuse the result of an earlier identical run instead of starting the agent."
          error={errors.cache}
          value={fields.cache}
          onChange={(cache) => edit({ cache })}
        >
          <option value="off">Do not use</option>
          <option value="on">Use a cached result, or store this one</option>
          <option value="refresh">Run again and store the result</option>
        </SelectField>
        {fields.cache === 'off' ? null : (
          <TextAreaField
            id="input-files"
            label="Input files"
            help="Optional. One per line, inside the working folder. A change to any of them invalidates the cached result."
            error={errors.inputFiles}
            class="mono"
            rows={3}
            value={fields.inputFiles}
            onChange={(inputFiles) => edit({ inputFiles })}
          />
        )}
      </div>
    </details>
  );
}

const FIELD_NAMES = ['timeS', 'idleS', 'waitS', 'tokens', 'cost', 'model', 'env', 'cache', 'inputFiles'] as const;
