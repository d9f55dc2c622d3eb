import { useEffect } from 'preact/hooks';
import { Notice } from '../../ui/notice.js';
import { CodePanel } from './code-panel.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Findings } from './findings.js';
import { MarkedText } from './marked-text.js';
import { OptionsForm } from './options-form.js';
import { OutcomeBar } from './outcome-bar.js';
import { SchemaEditor } from './schema-editor.js';
import { StreamPanel } from './stream-panel.js';
import { TextInput } from './text-input.js';
import { useInspection } from './use-inspection.js';
import type { InspectionState } from './use-inspection.js';
import { ValueRowsView } from './value-rows-view.js';
import { keepTexts, text } from './workbench-state.js';
import './workbench.css';

/** A place to try what `sluice/json` makes of a text: it runs here, in the page. */
export function WorkbenchPage() {
  const state = useInspection();
  useEffect(keepTexts, []);
  return (
    <div class="workbench stack">
      <div class="page-head">
        <h1>Workbench</h1>
        <span class="dim">What becomes of a text on its way to a value</span>
      </div>
      {state.failure === null ? null : (
        <Notice tone="bad" title="The text could not be read here">
          {state.failure}
        </Notice>
      )}
      <div class="beside">
        <TextInput />
        <SchemaEditor problem={state.schemaProblem} />
      </div>
      <OptionsForm />
      <OutcomeBar state={state} />
      <div class="beside results">
        <section class="card stack" aria-labelledby="workbench-found">
          <h2 id="workbench-found">Found in the text</h2>
          {state.inspection === null ? null : <MarkedText text={text.value} inspection={state.inspection} />}
          {state.inspection === null ? null : <Findings inspection={state.inspection} />}
        </section>
        <Value state={state} />
      </div>
      {state.link === null ? null : <StreamPanel link={state.link} turn={state.turn} />}
      <CodePanel />
    </div>
  );
}

function Value({ state: { inspection, link } }: { readonly state: InspectionState }) {
  const value = inspection?.value ?? null;
  const readValue = async (): Promise<string> => {
    const answer = await link?.ask({ kind: 'copy' });
    if (answer?.kind !== 'copied') throw new Error('there is no value to copy');
    return answer.text;
  };
  return (
    <section class="card stack" aria-labelledby="workbench-value">
      <div class="row">
        <h2 id="workbench-value">{inspection?.outcome.status === 'failed' ? 'Value that was refused' : 'Value'}</h2>
        {value === null ? null : (
          <span class="end">
            <CopyButton label="Copy" read={readValue} />
          </span>
        )}
      </div>
      {value === null ? (
        <p class="dim">No value. The entries under the text say what was tried.</p>
      ) : (
        <ValueRowsView value={value} label="The value, row by row" />
      )}
    </section>
  );
}
