import { Choices, LineField, LinesField, ListField } from '../../ui/fields.js';
import type { DecisionFields } from './decision-request.js';
import { fillResultForm, parseResult, printResult, buildResult } from './result-form.js';
import type { ResultField } from './result-form.js';

/** The result as a person writes it down: field by field, or as JSON. */
export function ResultFields({
  item,
  fields,
  wrong,
  change,
}: {
  readonly item: { readonly issue_ref: string; readonly run_id: string };
  readonly fields: DecisionFields;
  readonly wrong: Readonly<Partial<Record<ResultField, string>>>;
  readonly change: (changes: Partial<DecisionFields>) => void;
}) {
  const text = (field: 'pr' | 'commit' | 'testCommand' | 'testEvidence', label: string, help: string) => (
    <LineField
      id={`result-${field}`}
      label={label}
      help={help}
      wrong={wrong[field]}
      type="text"
      spellcheck={false}
      value={fields[field]}
      onWrite={(value) => change({ [field]: value })}
    />
  );
  const toJson = (): void => change({ view: 'json', json: printResult(buildResult(fields, item)) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    change({ view: 'fields', ...('result' in parsed ? fillResultForm(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>The result</legend>
      <div class="row">
        <span class="dim">
          For {item.issue_ref}, run {item.run_id}. The status is ok: only that can be accepted.
        </span>
        <button type="button" class="link end" onClick={fields.view === 'json' ? toFields : toJson}>
          {fields.view === 'json' ? 'Edit as fields' : 'Edit as JSON'}
        </button>
      </div>
      {fields.view === 'json' ? (
        <LinesField
          id="result-json"
          label="WorkResult"
          help="Keys in either style: run_id or RunId."
          wrong={wrong.json}
          class="mono"
          rows={16}
          spellcheck={false}
          value={fields.json}
          onWrite={(json) => change({ json })}
        />
      ) : (
        <>
          <LinesField
            id="result-summary"
            label="Summary"
            help="What was done and why."
            wrong={wrong.summary}
            rows={4}
            value={fields.summary}
            onWrite={(summary) => change({ summary })}
          />
          <div class="pair">
            {text('pr', 'Pull request', 'URL or number. A pull request or a commit is required.')}
            {text('commit', 'Commit', 'Hash in the order’s repository.')}
          </div>
          <Choices
            name="result-tests"
            legend="Tests"
            value={fields.tests}
            onChange={(tests) => change({ tests })}
            options={[
              { value: 'report', label: 'Tests were run', help: 'Enter the command, the result and the evidence.' },
              { value: 'n/a', label: 'No tests', help: 'Recorded as n/a.' },
            ]}
          />
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {text('testCommand', 'Command', 'What was run.')}
              <ListField
                id="result-testResult"
                label="Result"
                help="The outcome."
                wrong={wrong.testResult}
                value={fields.testResult}
                onWrite={(testResult) => change({ testResult })}
              >
                {fields.testResult === '' ? <option value="">Choose</option> : null}
                <option>pass</option>
                <option>fail</option>
                <option>n/a</option>
              </ListField>
              {text('testEvidence', 'Evidence', 'A count, a log or a URL.')}
            </div>
          )}
          <LinesField
            id="result-questions"
            label="Open questions"
            help="Optional. One per line."
            wrong={wrong.questions}
            rows={2}
            value={fields.questions}
            onWrite={(questions) => change({ questions })}
          />
        </>
      )}
    </fieldset>
  );
}
