import { useEffect } from 'preact/hooks';
import { Notice } from '../../ui/notice.js';
import { CodePanel } from './code-panel.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Findings } from './findings.js';
import { OptionsForm } from './options-form.js';
import { OtherParsers } from './other-parsers-panel.js';
import { OutcomeBar } from './outcome-bar.js';
import { SchemaEditor } from './schema-editor.js';
import { ShareButton } from './share-button.js';
import { StreamPanel } from './stream-panel.js';
import { TextPane } from './text-pane.js';
import { useInspection } from './use-inspection.js';
import type { InspectionHandle } from './use-inspection.js';
import { ValueRowsView } from './value-rows-view.js';
import { storeTexts } from './workbench-state.js';
import './workbench.css';

/** A page that parses input with `sluice/json` in the browser. */
export function WorkbenchPage() {
  const state = useInspection();
  const { reading } = state;
  useEffect(storeTexts, []);
  return (
    <div class="workbench stack">
      <div class="page-head">
        <h1>Workbench</h1>
        <OptionsForm />
        <span class="end">
          <ShareButton />
        </span>
      </div>
      {state.failure === null ? null : (
        <Notice tone="bad" title="Cannot parse the output" action={{ label: 'Try again', run: state.retry }}>
          {state.failure}
        </Notice>
      )}
      <div class="bench">
        <div class="inputs">
          <TextPane reading={reading} />
          <SchemaEditor problem={state.schemaProblem} />
        </div>
        <div class={state.busy ? 'results stale' : 'results'}>
          <OutcomeBar state={state} />
          <Value state={state} />
          <section class="card pane" aria-labelledby="workbench-found">
            <h2 id="workbench-found">Findings</h2>
            <div class="body findings" tabIndex={0} role="group" aria-label="Entries">
              {reading === null || reading.text === '' ? null : <Findings inspection={reading.inspection} />}
            </div>
          </section>
        </div>
      </div>
      <StreamPanel reading={reading} fail={state.fail} />
      <OtherParsers state={state} />
      <CodePanel />
    </div>
  );
}

function Value({ state: { reading, fail } }: { readonly state: InspectionHandle }) {
  const value = reading?.inspection.value ?? null;
  const formatValue = async (): Promise<string> => {
    const text = await reading?.formatValue().catch(fail);
    if (typeof text !== 'string') throw new Error('No value to copy.');
    return text;
  };
  return (
    <section class="card pane" aria-labelledby="workbench-value">
      <div class="row">
        <h2 id="workbench-value">
          {value !== null && reading?.inspection.outcome.status === 'failed' ? 'Rejected value' : 'Value'}
        </h2>
        {value === null ? null : (
          <span class="end">
            <CopyButton label="Copy" read={formatValue} />
          </span>
        )}
      </div>
      {value === null ? (
        <p class="dim body">
          {reading === null || reading.text === ''
            ? ''
            : 'No value found. The findings below show which candidates were tried.'}
        </p>
      ) : (
        <ValueRowsView value={value} label="The value, line by line" />
      )}
    </section>
  );
}
