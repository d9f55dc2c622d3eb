import type { ComponentChildren } from 'preact';
import type { RunView } from '../../../src/api/index.js';
import { pathOf } from '../../app/route.js';
import { Badge } from '../../ui/badge.js';
import { CopyButton } from '../../ui/copy-button.js';
import { wordsOfRepair } from '../../ui/repair-words.js';
import { SafeText } from '../../ui/safe-text.js';
import { ChangedFiles } from './changed-files.js';
import { RunFailureView } from './run-failure.js';
import { ValueText } from './value-text.js';

/** What came of a run: the value, where its text had to be changed, what went wrong and what it left. */
export function RunResultView({
  runId,
  result,
}: {
  readonly runId: string;
  readonly result: NonNullable<RunView['result']>;
}) {
  const { value, comment, text, error, warnings, repairs = [], artifacts, process, cached_from } = result;
  return (
    <div class="stack">
      {cached_from === undefined ? null : (
        <p>
          Kept from <a href={pathOf({ page: 'run', id: cached_from })}>{cached_from}</a>: nothing was started.
        </p>
      )}
      <div class="result-columns">
        <div class="stack">
          {error === undefined ? null : <RunFailureView error={error} />}
          <Value title="Value" value={value} />
          {value === undefined ? null : (
            <p>
              <CopyButton label="Copy value" read={() => JSON.stringify(value, null, 2)} />
            </p>
          )}
          <Value title="Comment" value={comment} />
          <Value title="Last words" value={text} />
        </div>
        <div class="stack">
          <Told title="Warnings" lines={warnings.map(({ code, message }) => ({ word: code, message, place: '' }))} />
          <Told
            title="Repairs"
            lines={repairs.map(({ kind, message, offset }) => ({
              word: kind,
              message: wordsOfRepair(kind) ?? message,
              place: `, at ${offset}`,
            }))}
          />
          <ChangedFiles runId={runId} artifacts={artifacts} />
          <Value title="Process" value={process} />
        </div>
      </div>
    </div>
  );
}

function Value({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === undefined) return null;
  return (
    <Part title={title}>
      <ValueText value={value} limit={4000} />
    </Part>
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

/** What was noticed, with the word to look it up by. */
function Told({
  title,
  lines,
}: {
  readonly title: string;
  readonly lines: readonly { readonly word: string; readonly message: string; readonly place: string }[];
}) {
  if (lines.length === 0) return null;
  return (
    <Part title={title}>
      <ul class="plain">
        {lines.slice(0, 100).map(({ word, message, place }, index) => (
          <li key={index}>
            <Badge tone="warn">{word}</Badge> <SafeText text={message} limit={1000} />
            <span class="dim">{place}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}
