import { Switch } from '../../ui/field.js';
import { isProfile, PROFILES } from '../../ui/profile-words.js';
import { LineField, LinesField, ListField } from '../../ui/text-fields.js';
import type { FormPart } from './form-part.js';

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
