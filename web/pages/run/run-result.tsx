import type { ComponentChildren } from 'preact';
import type { RunView } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge } from '../../ui/badge.js';
import { CopyButton } from '../../ui/copy-button.js';
import { JsonTree } from '../../ui/json-tree.js';
import { describeRepair } from '../../ui/repair-words.js';
import { SafeText } from '../../ui/safe-text.js';
import { ValueText } from './value-text.js';
import { ArtifactPreview } from './artifact-preview.js';

/** The result of a run: the value, where its text had to be changed, what went wrong and what it left. */
export function RunResultView({
  runId,
  result,
}: {
  readonly runId: string;
  readonly result: NonNullable<RunView['result']>;
}) {
  const { value, comment, text, error, warnings, repairs = [], artifacts, process, cached_from, model } = result;
  const { denials = [], diagnostics = [] } = result;
  return (
    <div class="stack">
      {cached_from === undefined ? null : (
        <p>
          Cached result of <a href={toPath({ page: 'run', id: cached_from })}>{cached_from}</a>; no agent was started.
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
          <Value title="Last output" value={text} />
        </div>
        <div class="stack">
          <NoteList
            title="Warnings"
            lines={warnings.map(({ code, message }) => ({ word: code, message, place: '' }))}
          />
          <NoteList
            title="Denied tools"
            lines={denials.map(({ tool, reason, input }) => ({
              word: tool,
              message: reason,
              place: input === undefined ? '' : ` ${JSON.stringify(input).slice(0, 200)}`,
            }))}
          />
          <NoteList
            title="Diagnostics"
            lines={diagnostics.map(({ code, message, count }) => ({
              word: code,
              message,
              place: count === 1 ? '' : `, ${count} times`,
            }))}
          />
          <NoteList
            title="Repairs"
            lines={repairs.map(({ kind, message, offset }) => ({
              word: kind,
              message: describeRepair(kind) ?? message,
              place: `, at ${offset}`,
            }))}
          />
          <ChangedFiles runId={runId} artifacts={artifacts} />
          <Value title="Model" value={model} />
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
      {typeof value === 'object' && value !== null ? (
        <JsonTree value={value} open={3} />
      ) : (
        <ValueText value={value} limit={4000} />
      )}
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

/** The notes, each with a code to look it up by. */
function NoteList({
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

/** Lines of a list of errors; more are in the export. */
const MAX_LINES = 50;

type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

/** Why a run failed: the code, where the schema was not met, and which candidates were tried. */
function RunFailureView({
  error: { category, cause, http_status, code, message, issues = [], tried = [] },
}: {
  readonly error: RunError;
}) {
  return (
    <section>
      <h2>Error</h2>
      <p>
        <Badge tone="bad">{code}</Badge>{' '}
        <span class="dim">{[category, cause, http_status].filter((part) => part !== undefined).join(' · ')}</span>{' '}
        <SafeText text={message} limit={4000} />
      </p>
      <Lines
        title="Schema errors"
        lines={issues.map(({ path, message: issue }) => `${path.length === 0 ? '(root)' : path.join('.')}: ${issue}`)}
      />
      <Lines
        title="Candidates tried"
        lines={tried.map((one) => `${one.finder} ${one.start}–${one.end}: ${one.code} ${one.message}`)}
      />
    </section>
  );
}

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain">
        {lines.slice(0, MAX_LINES).map((line, index) => (
          <li key={index}>
            <SafeText text={line} limit={500} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** More files than this are in the export. */
const MAX_FILES = 100;

/** The files a run created, modified and deleted; existing files can be previewed. */
function ChangedFiles({
  runId,
  artifacts,
}: {
  readonly runId: string;
  readonly artifacts: NonNullable<RunView['result']>['artifacts'];
}) {
  const files = (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    artifacts[change].map((path) => ({ change, path })),
  );
  if (files.length === 0) return null;
  return (
    <section>
      <h2>Files</h2>
      <ul class="plain">
        {files.slice(0, MAX_FILES).map(({ change, path }) => (
          <li key={`${change} ${path}`}>
            {change === 'deleted' ? (
              <span class="row">
                <span class="dim">deleted</span>
                <code>
                  <SafeText text={path} limit={400} />
                </code>
              </span>
            ) : (
              <ArtifactPreview runId={runId} path={path} note={change} />
            )}
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES ? <p class="dim">and {files.length - MAX_FILES} more</p> : null}
    </section>
  );
}
