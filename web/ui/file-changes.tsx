import { SafeText } from './text.js';
import type { DiffLine, FileChange } from '../../src/base/index.js';
import './diff.css';
import { t } from '../app/texts.js';

const INITIAL_LINES = 12;
export const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

export function FileChanges({ changes }: Readonly<{ changes: readonly FileChange[] }>) {
  return (
    <>
      {changes.map((change, index) => (
        <div key={index} class="file-change">
          <SafeText as="code" text={change.path} limit={300} />
          <DiffLines lines={change.lines.slice(0, INITIAL_LINES)} />
          {change.lines.length > INITIAL_LINES ? (
            <details>
              <summary>{t.moreLines(change.lines.length - INITIAL_LINES)}</summary>
              <DiffLines lines={change.lines.slice(INITIAL_LINES)} />
            </details>
          ) : null}
          {change.isPartial === true ? <p class="dim">{t.tooLongNotAllChanged}</p> : null}
        </div>
      ))}
    </>
  );
}

export function DiffLines({ lines }: Readonly<{ lines: readonly DiffLine[] }>) {
  return (
    <div class="hunk">
      {lines.map(({ kind, text }, index) => (
        <div key={index} class={`diff-line plain ${kind}`}>
          <span class="sign" aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <code>
            {kind === 'same' ? null : <span class="visually-hidden">{kind}: </span>}
            <SafeText text={text} limit={1000} />
          </code>
        </div>
      ))}
    </div>
  );
}
