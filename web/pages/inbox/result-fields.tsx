import { bindFields } from '../../ui/form.js';
import type { FormPart } from '../../ui/form.js';
import { fillResultForm, parseResult, formatResult, buildResult } from './decision.js';
import { Button } from '../../ui/button.js';
import type { DecisionFields } from './decision.js';

/** Fields to edit a result individually or as JSON. */
export function ResultFields({
  item,
  ...form
}: FormPart<DecisionFields> & { readonly item: { readonly issue_ref: string; readonly run_id: string } }) {
  const { fields, edit } = form;
  const { text, area, select, radio } = bindFields(form, 'result-');
  const line = (name: 'pr' | 'commit' | 'testCommand' | 'testEvidence', label: string, help: string) =>
    text(name, label, help, { spellcheck: false });
  const toJson = (): void => edit({ view: 'json', json: formatResult(buildResult(fields, item)) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    edit({ view: 'fields', ...('result' in parsed ? fillResultForm(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>Result</legend>
      <div class="row">
        <span class="dim">
          For {item.issue_ref}, run {item.run_id}. The status is always ok: no other status can be accepted.
        </span>
        <Button
          label={fields.view === 'json' ? 'Edit as fields' : 'Edit as JSON'}
          class="link end"
          onClick={fields.view === 'json' ? toFields : toJson}
        />
      </div>
      {fields.view === 'json' ? (
        area('json', 'Work result', 'Keys may be written as run_id or RunId.', {
          class: 'mono',
          rows: 16,
          spellcheck: false,
        })
      ) : (
        <>
          {area('summary', 'Summary', 'What was done and why.', { rows: 4 })}
          <div class="pair">
            {line('pr', 'Pull request', 'URL or number. A pull request or a commit is required.')}
            {line('commit', 'Commit', 'Hash in the order’s repository.')}
          </div>
          {radio('tests', 'Tests', [
            { value: 'report', label: 'Tests were run', help: 'Enter the command, the result and the evidence.' },
            { value: 'n/a', label: 'No tests', help: 'Recorded as n/a (not applicable).' },
          ])}
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {line('testCommand', 'Command', 'The command that was run.')}
              {select('testResult', 'Test result', 'The outcome of the tests.', [
                ...(fields.testResult === '' ? [{ value: '', label: 'Choose' }] : []),
                { value: 'pass', label: 'Pass' },
                { value: 'fail', label: 'Fail' },
                { value: 'n/a', label: 'Not applicable' },
              ])}
              {line('testEvidence', 'Evidence', 'For example a count, a log or a URL.')}
            </div>
          )}
          {area('questions', 'Open questions', 'Optional. One per line.', { rows: 2 })}
        </>
      )}
    </fieldset>
  );
}
