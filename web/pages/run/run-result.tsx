import type { ComponentChildren } from 'preact';
import type { RunView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, capitalize } from '../../ui/badge.js';
import { CopyButton } from '../../ui/button.js';
import { JsonTree, ValueText } from '../../ui/json-tree.js';
import { describeRepair } from '../../ui/json-labels.js';
import { SafeText } from '../../ui/safe-text.js';
import { ArtifactPreview } from './artifact.js';

/** A run's result: the value, the repairs, the errors and the changed files. */
export function RunResultView({ runId, result }: Readonly<{ runId: string; result: NonNullable<RunView['result']> }>) {
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
          <NoteList title="Warnings" lines={warnings.map(({ code, message }) => ({ code, message, detail: '' }))} />
          <NoteList
            title="Denied tools"
            lines={denials.map(({ tool, reason, input }) => ({
              code: tool,
              message: reason,
              detail: input === undefined ? '' : ` ${JSON.stringify(input).slice(0, 200)}`,
            }))}
          />
          <NoteList
            title="Diagnostics"
            lines={diagnostics.map(({ code, message, count }) => ({
              code,
              message,
              detail: count === 1 ? '' : `, ${count} times`,
            }))}
          />
          <NoteList
            title="Repairs"
            lines={repairs.map(({ kind, message, offset }) => ({
              code: kind,
              message: describeRepair(kind) ?? message,
              detail: `, at offset ${offset}`,
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

function Value({ title, value }: Readonly<{ title: string; value: unknown }>) {
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

function Part({ title, children }: Readonly<{ title: string; children: ComponentChildren }>) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function NoteList({
  title,
  lines,
}: {
  readonly title: string;
  readonly lines: readonly { readonly code: string; readonly message: string; readonly detail: string }[];
}) {
  if (lines.length === 0) return null;
  return (
    <Part title={title}>
      <ul class="plain">
        {lines.slice(0, 100).map(({ code, message, detail }, index) => (
          <li key={index}>
            <Badge tone="warn">{code}</Badge> <SafeText text={message} limit={1000} />
            <span class="dim">{detail}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The maximum number of lines in a list of errors; the export has all of them. */
const MAX_LINES = 50;

type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

/** Explains why a run failed: the code, the schema errors, and the candidates that were tried. */
function RunFailureView({
  error: { category, cause, http_status, code, message, issues = [], tried = [] },
}: {
  readonly error: RunError;
}) {
  return (
    <section>
      <h2>Error</h2>
      <p>
        <Badge tone="bad">{code}</Badge> <span class="dim">{describeOrigin(category, cause, http_status)}</span>{' '}
        <SafeText text={message} limit={4000} />
      </p>
      <Lines
        title="Schema errors"
        lines={issues.map(({ path, message: issue }) => `${path.length === 0 ? '(root)' : path.join('.')}: ${issue}`)}
      />
      <Lines title="Candidates tried" lines={tried.map(describeTried)} />
    </section>
  );
}

function describeTried({ finder, start, end, code, message }: NonNullable<RunError['tried']>[number]): string {
  return `${finder} ${start}–${end}: ${code} ${message}`;
}

/** Describes where an error comes from: `Engine · Rate limit · HTTP 429`. */
function describeOrigin(category: string, cause: string | undefined, status: number | undefined): string {
  const parts = [category, ...(cause === undefined ? [] : [cause])].map(capitalize);
  return [...parts, ...(status === undefined ? [] : [`HTTP ${status}`])].join(' · ');
}

function Lines({ title, lines }: Readonly<{ title: string; lines: readonly string[] }>) {
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

/** The maximum number of listed files; the export has all of them. */
const MAX_FILES = 100;

/** The files a run created, modified and deleted; existing files can be previewed. */
function ChangedFiles({
  runId,
  artifacts,
}: Readonly<{ runId: string; artifacts: NonNullable<RunView['result']>['artifacts'] }>) {
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
                <span class="dim">Deleted</span>
                <SafeText as="code" text={path} limit={400} />
              </span>
            ) : (
              <ArtifactPreview runId={runId} path={path} note={capitalize(change)} />
            )}
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES ? <p class="dim">{files.length - MAX_FILES} more</p> : null}
    </section>
  );
}
