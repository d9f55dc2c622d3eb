import type { ComponentChildren } from 'preact';
import { SafeText } from './text.js';
import type { InboxItem } from '../../src/server/api/index.js';
import { toPath } from '../app/route.js';
import { Badge } from './parts.js';
import { t } from '../app/texts.js';

/** A list of names and values. Missing values are skipped, and text may come from an agent. */
export function Facts({ facts }: Readonly<{ facts: Readonly<Record<string, ComponentChildren>> }>) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt class="dim">{name}</dt>
          <dd>{typeof value === 'string' ? <SafeText text={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function IssueLink({ of: ref }: Readonly<{ of: string }>) {
  return <a href={toPath({ page: 'issues', ref })}>{ref}</a>;
}

export function RunLink({ id, label = id }: Readonly<{ id: string; label?: string }>) {
  return <a href={toPath({ page: 'run', id })}>{label}</a>;
}

const MAX_NOTES = 50;

/** Problems and notices about a result: messages with their codes. */
export function Notes({ notes }: Readonly<{ notes: readonly NoteView[] }>) {
  return (
    <ul class="notes">
      {notes.slice(0, MAX_NOTES).map(({ code, message, path }, index) => (
        <li key={index}>
          <SafeText text={path === undefined ? message : `${path}: ${message}`} /> <code class="dim">{code}</code>
        </li>
      ))}
      {notes.length > MAX_NOTES ? <li class="dim">{t.andMore(notes.length - MAX_NOTES)}</li> : null}
    </ul>
  );
}

/** A problem or a notice about a result; without a path, it is about the whole result. */
export type NoteView = Readonly<{ code: string; message: string; path?: string }>;

type Fact = NonNullable<InboxItem['evidence']>[number];

/** Renders a verdict. Distinguishes a claim made only by the agent from a claim that Sluice could not check. */
function renderVerdict({ verdict, by }: Pick<Fact, 'verdict' | 'by'>) {
  switch (verdict) {
    case 'confirmed':
      return <Badge tone="good">{t.verified}</Badge>;
    case 'contradicted':
      return <Badge tone="bad">{t.contradicted}</Badge>;
    case 'unchecked':
      return <Badge>{by === 'worker' ? t.reportedNotVerified : t.notChecked}</Badge>;
  }
}

export function Verdicts({ evidence }: Readonly<{ evidence: readonly Fact[] }>) {
  return (
    <ul class="notes" aria-label={t.verdicts}>
      {evidence.map(({ claim, verdict, by, detail, run, diff }, index) => (
        <li key={index}>
          <strong>{t.claims[claim]}</strong> {renderVerdict({ verdict, by })} <SafeText text={detail} />{' '}
          {run === undefined ? null : <a href={toPath({ page: 'run', id: run })}>{t.openTheRun}</a>}
          {diff === undefined ? null : <SafeText as="pre" class="plain" text={diff} />}
        </li>
      ))}
    </ul>
  );
}

/** Reads what triggered a comment: a run, a decision about an inbox item, or something else. */
export function readTrigger(trigger: string) {
  const [, name, id = ''] = /^(workrun|resolve):(.+)$/su.exec(trigger) ?? [];
  if (name === 'workrun') return { kind: 'run', runId: id } as const;
  if (name === 'resolve') return { kind: 'item', itemId: id } as const;
  return { kind: 'other', text: trigger } as const;
}

/** Links to a run's exports: a report and, once the run has ended, a test case. */
export function RunExports({ id, hasEnded }: Readonly<{ id: string; hasEnded: boolean }>) {
  const address = `/v1/runs/${encodeURIComponent(id)}`;
  return (
    <>
      <a class="button" href={`${address}/report`} download title={t.downloadOneHtmlFileTo}>
        {t.report}
      </a>
      {hasEnded ? (
        <a class="button" href={`${address}/case`} download title={t.downloadATarToUnpack}>
          {t.testCase}
        </a>
      ) : null}
    </>
  );
}

/** Explains why a run's file list is empty, and which host might have the files. */
export function describeMissingFiles(files: Readonly<{ source: string | null; host?: string | undefined }>): string {
  return files.source === null ? t.filesNotHere(files.host) : t.theRunProducedNoFiles;
}
