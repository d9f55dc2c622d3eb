import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { RunView } from '../../../src/api/index.js';
import { JsonTree } from '../../ui/json-tree.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import { AttemptsView } from './attempts-view.js';
import type { OpenRun } from './open-run.js';
import { RunResultView } from './run-result.js';
import { ValueText, formatValue } from './value-text.js';

/** A run's task, result and attempts. Each is one line that opens as a panel over the page. */
export function RunDetails({ run, view }: { readonly run: OpenRun; readonly view: RunView }) {
  const { prompt, ...otherFields } = view.spec;
  return (
    <div class="run-details">
      <Panel title="Task" line={describeTaskLine(view)}>
        {typeof prompt === 'string' && prompt !== '' ? <ValueText value={prompt} limit={4000} /> : null}
        <JsonTree value={otherFields} open={2} />
        <p class="dim">
          Created <Timestamp at={view.created_at} /> · Started <Timestamp at={view.started_at} /> · Ended{' '}
          <Timestamp at={view.ended_at} />
        </p>
      </Panel>
      <Panel title="Result" line={describeResultLine(view.result)}>
        {view.result === null ? (
          <p class="dim">No result until the run ends.</p>
        ) : (
          <RunResultView runId={view.id} result={view.result} />
        )}
      </Panel>
      {(view.result?.attempts ?? 1) > 1 ? (
        <Panel title="Attempts" line={`${view.result?.attempts ?? 1}, side by side`}>
          <AttemptsView run={run} />
        </Panel>
      ) : null}
    </div>
  );
}

function Panel({
  title,
  line,
  children,
}: {
  readonly title: string;
  readonly line: string;
  readonly children: ComponentChildren;
}) {
  return (
    <details class="card" name="run-panel" onKeyDown={closeOnEscape}>
      <summary>
        <strong>{title}</strong>
        <span class="one-line dim">
          <SafeText text={line} />
        </span>
      </summary>
      <div class="run-panel" tabIndex={0} role="region" aria-label={title}>
        {children}
      </div>
    </details>
  );
}

/** Closes a panel when Escape is pressed. */
function closeOnEscape(event: TargetedKeyboardEvent<HTMLDetailsElement>): void {
  if (event.key === 'Escape') event.currentTarget.open = false;
}

function describeTaskLine({ spec }: RunView): string {
  const { prompt, command } = spec;
  if (typeof prompt === 'string' && prompt !== '') return toOneLine(prompt);
  return Array.isArray(command) ? toOneLine(command.join(' ')) : '';
}

function describeResultLine(result: RunView['result']): string {
  if (result === null) return 'None yet';
  const { value, comment, text, error } = result;
  return toOneLine(error?.['message'] ?? value ?? comment ?? text ?? result.status);
}

function toOneLine(value: unknown): string {
  return formatValue(value, 300).text.replaceAll(/\s+/g, ' ');
}
