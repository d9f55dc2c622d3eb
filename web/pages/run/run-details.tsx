import type { ComponentChildren } from 'preact';
import type { RunView } from '../../../src/api/shapes/run.js';
import { Badge } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { toneOf } from '../../ui/state-tone.js';
import { Moment } from '../../ui/time.js';
import { RunFailureView } from './run-failure.js';
import { ValueText } from './value-text.js';
import { writeValue } from './write-value.js';

/** What came of a run, and what it was asked; both folded to one line. */
export function RunDetails({ run }: { readonly run: RunView }) {
  return (
    <div class="run-details">
      <details class="card">
        <summary>
          <strong>Task</strong>{' '}
          <span class="one-line dim">
            <SafeText text={taskLine(run)} limit={300} />
          </span>
        </summary>
        <div class="run-panel" tabIndex={0} role="region" aria-label="Task">
          <ValueText value={run.spec} limit={4000} />
          <p class="dim">
            asked <Moment at={run.created_at} />, begun <Moment at={run.started_at} />, ended{' '}
            <Moment at={run.ended_at} />
          </p>
        </div>
      </details>
      <details class="card">
        <summary>
          <strong>Result</strong>{' '}
          <span class="one-line dim">
            <SafeText text={resultLine(run.result)} limit={300} />
          </span>
        </summary>
        <div class="run-panel" tabIndex={0} role="region" aria-label="Result">
          {run.result === null ? (
            <p class="dim">There is none before the run has ended.</p>
          ) : (
            <Result result={run.result} />
          )}
        </div>
      </details>
    </div>
  );
}

type Result = NonNullable<RunView['result']>;

function Result({ result }: { readonly result: Result }) {
  const { status, repair_level, warnings, value, comment, text, error, usage, process, artifacts, cached_from } =
    result;
  return (
    <div class="stack">
      <div class="row">
        <Badge tone={toneOf(status)}>{status}</Badge>
        <span>
          repair level <Badge tone={toneOf(repair_level)}>{repair_level}</Badge>
        </span>
        {cached_from === undefined ? null : (
          <span>
            kept from <a href={`/runs/${encodeURIComponent(cached_from)}`}>{cached_from}</a>
          </span>
        )}
      </div>
      {error === undefined ? null : <RunFailureView error={error} />}
      {value === undefined ? null : (
        <Part title="Value">
          <ValueText value={value} limit={8000} />
        </Part>
      )}
      {comment === undefined ? null : (
        <Part title="Comment">
          <ValueText value={comment} limit={4000} />
        </Part>
      )}
      {text === undefined ? null : (
        <Part title="Last words">
          <ValueText value={text} limit={4000} />
        </Part>
      )}
      {warnings.length === 0 ? null : (
        <Part title="Warnings">
          <ul class="plain">
            {warnings.slice(0, 100).map(({ code, message }, index) => (
              <li key={index}>
                <Badge tone="warn">{code}</Badge> <SafeText text={message} limit={1000} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title="Files that changed">
        <ValueText value={artifacts} limit={1500} />
      </Part>
      {usage === undefined ? null : (
        <Part title="Usage">
          <ValueText value={usage} limit={1000} />
        </Part>
      )}
      {process === undefined ? null : (
        <Part title="Process">
          <ValueText value={process} limit={1500} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function taskLine({ spec }: RunView): string {
  const { prompt, command } = spec;
  if (typeof prompt === 'string' && prompt !== '') return prompt.slice(0, 300);
  return Array.isArray(command) ? command.join(' ').slice(0, 300) : '';
}

function resultLine(result: Result | null): string {
  if (result === null) return 'none yet';
  const { value, comment, text, error } = result;
  const told = error?.['message'] ?? value ?? comment ?? text ?? result.status;
  return writeValue(told, 300).text.replaceAll(/\s+/g, ' ');
}
