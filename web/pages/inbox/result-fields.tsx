import { Choices, Field } from '../../ui/field.js';
import type { DecisionFields } from './decision-request.js';
import { formOf, parseResult, printResult, resultOf } from './result-form.js';
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
    <Field id={`result-${field}`} label={label} help={help} wrong={wrong[field]}>
      {(control) => (
        <input
          {...control}
          type="text"
          spellcheck={false}
          value={fields[field]}
          onInput={(event) => change({ [field]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
  const toJson = (): void => change({ view: 'json', json: printResult(resultOf(fields, item)) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    change({ view: 'fields', ...('result' in parsed ? formOf(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>The result</legend>
      <div class="row">
        <span class="dim">
          Of {item.issue_ref}, run {item.run_id}, status ok: only that can be accepted.
        </span>
        <button type="button" class="link end" onClick={fields.view === 'json' ? toFields : toJson}>
          {fields.view === 'json' ? 'As fields' : 'As JSON'}
        </button>
      </div>
      {fields.view === 'json' ? (
        <Field id="result-json" label="WorkResult" help="Keys in either spelling: run_id or RunId." wrong={wrong.json}>
          {(control) => (
            <textarea
              {...control}
              class="mono"
              rows={16}
              spellcheck={false}
              value={fields.json}
              onInput={(event) => change({ json: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : (
        <>
          <Field id="result-summary" label="Summary" help="What was done and why, for people." wrong={wrong.summary}>
            {(control) => (
              <textarea
                {...control}
                rows={4}
                value={fields.summary}
                onInput={(event) => change({ summary: event.currentTarget.value })}
              />
            )}
          </Field>
          <div class="pair">
            {text('pr', 'Pull request', 'Address or number. A pull request or a commit must be there.')}
            {text('commit', 'Commit', 'Its hash, in the repository of the order.')}
          </div>
          <Choices
            name="result-tests"
            legend="Tests"
            value={fields.tests}
            onChange={(tests) => change({ tests })}
            options={[
              { value: 'report', label: 'were run', help: 'Say which, how it went and what shows it.' },
              { value: 'n/a', label: 'there are none', help: 'Written as n/a: the only way to say so.' },
            ]}
          />
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {text('testCommand', 'Command', 'What was run.')}
              <Field id="result-testResult" label="Result" help="How it went." wrong={wrong.testResult}>
                {(control) => (
                  <select
                    {...control}
                    value={fields.testResult}
                    onChange={(event) => change({ testResult: event.currentTarget.value })}
                  >
                    <option>pass</option>
                    <option>fail</option>
                    <option>n/a</option>
                  </select>
                )}
              </Field>
              {text('testEvidence', 'Evidence', 'A count, a log, an address.')}
            </div>
          )}
          <Field
            id="result-questions"
            label="Open questions"
            help="One a line; may stay empty."
            wrong={wrong.questions}
          >
            {(control) => (
              <textarea
                {...control}
                rows={2}
                value={fields.questions}
                onInput={(event) => change({ questions: event.currentTarget.value })}
              />
            )}
          </Field>
        </>
      )}
    </fieldset>
  );
}
