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

/** A place to try what `sluice/json` makes of a text: a long one apart, it runs here, in the page. */
export function WorkbenchPage() {
  const state = useInspection();
  const inspection = state.reading?.inspection ?? null;
  const startStream = state.reading?.startStream ?? null;
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
      {state.tooLong ? (
        <Notice
          tone="plain"
          title="This text is long"
          action={{ label: 'Have the server read it', run: state.readByServer }}
        >
          Reading it here would hold up the page. The server can read it instead: then the text is sent to it, and only
          the candidate that was taken is told. It takes 16 MB.
        </Notice>
      ) : null}
      <div class="beside results">
        <section class="card stack" aria-labelledby="workbench-found">
          <h2 id="workbench-found">Found in the text</h2>
          {inspection === null ? null : <MarkedText text={text.value} inspection={inspection} />}
          {inspection === null ? null : <Findings inspection={inspection} />}
        </section>
        <Value state={state} />
      </div>
      {startStream === null ? null : <StreamPanel start={startStream} />}
      <CodePanel />
    </div>
  );
}

function Value({ state: { reading } }: { readonly state: InspectionState }) {
  const inspection = reading?.inspection ?? null;
  const value = inspection?.value ?? null;
  return (
    <section class="card stack" aria-labelledby="workbench-value">
      <div class="row">
        <h2 id="workbench-value">{inspection?.outcome.status === 'failed' ? 'Value that was refused' : 'Value'}</h2>
        {value === null ? null : (
          <span class="end">
            <CopyButton label="Copy" read={() => reading?.writeValue() ?? ''} />
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
