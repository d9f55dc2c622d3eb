import { RadioField, TextField, TextAreaField, SelectField } from '../../ui/fields.js';
import type { DecisionFields } from './decision-request.js';
import { fillResultForm, parseResult, formatResult, buildResult } from './result-form.js';
import type { ResultField } from './result-form.js';

/** Fields to edit a result individually or as JSON. */
export function ResultFields({
  item,
  fields,
  errors,
  change,
}: {
  readonly item: { readonly issue_ref: string; readonly run_id: string };
  readonly fields: DecisionFields;
  readonly errors: Readonly<Partial<Record<ResultField, string>>>;
  readonly change: (changes: Partial<DecisionFields>) => void;
}) {
  const text = (field: 'pr' | 'commit' | 'testCommand' | 'testEvidence', label: string, help: string) => (
    <TextField
      id={`result-${field}`}
      label={label}
      help={help}
      error={errors[field]}
      type="text"
      spellcheck={false}
      value={fields[field]}
      onChange={(value) => change({ [field]: value })}
    />
  );
  const toJson = (): void => change({ view: 'json', json: formatResult(buildResult(fields, item)) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    change({ view: 'fields', ...('result' in parsed ? fillResultForm(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>Result</legend>
      <div class="row">
        <span class="dim">
          For {item.issue_ref}, run {item.run_id}. The status is always ok: no other status can be accepted.
        </span>
        <button type="button" class="link end" onClick={fields.view === 'json' ? toFields : toJson}>
          {fields.view === 'json' ? 'Edit as fields' : 'Edit as JSON'}
        </button>
      </div>
      {fields.view === 'json' ? (
        <TextAreaField
          id="result-json"
          label="Work result"
          help="Keys may be written as run_id or RunId."
          error={errors.json}
          class="mono"
          rows={16}
          spellcheck={false}
          value={fields.json}
          onChange={(json) => change({ json })}
        />
      ) : (
        <>
          <TextAreaField
            id="result-summary"
            label="Summary"
            help="What was done and why."
            error={errors.summary}
            rows={4}
            value={fields.summary}
            onChange={(summary) => change({ summary })}
          />
          <div class="pair">
            {text('pr', 'Pull request', 'URL or number. A pull request or a commit is required.')}
            {text('commit', 'Commit', 'Hash in the order’s repository.')}
          </div>
          <RadioField
            name="result-tests"
            legend="Tests"
            value={fields.tests}
            onChange={(tests) => change({ tests })}
            options={[
              { value: 'report', label: 'Tests were run', help: 'Enter the command, the result and the evidence.' },
              { value: 'n/a', label: 'No tests', help: 'Recorded as n/a (not applicable).' },
            ]}
          />
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {text('testCommand', 'Command', 'The command that was run.')}
              <SelectField
                id="result-testResult"
                label="Test result"
                help="The outcome of the tests."
                error={errors.testResult}
                value={fields.testResult}
                onChange={(testResult) => change({ testResult })}
              >
                {fields.testResult === '' ? <option value="">Choose</option> : null}
                <option value="pass">Pass</option>
                <option value="fail">Fail</option>
                <option value="n/a">Not applicable</option>
              </SelectField>
              {text('testEvidence', 'Evidence', 'For example a count, a log or a URL.')}
            </div>
          )}
          <TextAreaField
            id="result-questions"
            label="Open questions"
            help="Optional. One per line."
            error={errors.questions}
            rows={2}
            value={fields.questions}
            onChange={(questions) => change({ questions })}
          />
        </>
      )}
    </fieldset>
  );
}
