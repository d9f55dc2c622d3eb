import { useSignal } from '@preact/signals';
import type { Change } from '../../../src/server/api/index.js';
import { client } from '../../data/client.js';
import { useResource, type Resource } from '../../data/resource.js';
import { formatCount, SafeText } from '../../ui/text.js';
import { labelState, Loaded, Button } from '../../ui/parts.js';
import { findComment, type LineComment, type LinePosition } from './decision.js';
import { SIGNS } from '../../ui/file-changes.js';
import { t } from './texts.js';

type ChangedFile = Change['files'][number];
type ChangedLine = ChangedFile['hunks'][number]['lines'][number];

/** The line comments and a function to change them; null for read-only views. */
type Review = Readonly<{ comments: readonly LineComment[]; setComment: ((comment: LineComment) => void) | null }>;

/** Loads an order's change; loads nothing while the issue is null. */
export function useChange(issueRef: string | null, runId: string): Resource<Change> {
  return useResource<Change>(`diff ${issueRef ?? ''} ${runId}`, async (signal) =>
    issueRef === null
      ? Promise.race<never>([])
      : client.getIssueDiff({ ref: issueRef, query: { run_id: runId }, signal }),
  );
}

export function ChangeView(props: Readonly<{ change: Resource<Change>; review: Review; label?: string }>) {
  const { change, review, label = t.change } = props;
  return (
    <section class="card stack changes" aria-label={label}>
      <h2>{label}</h2>
      <Loaded resource={change}>
        {(value) => (
          <>
            <SafeText as="p" class="dim" text={describeSource(value)} />
            {value.files.map((file) => (
              <File key={file.path} file={file} opensFiles={value.files.length <= 5} review={review} />
            ))}
            {value.truncated ? <p class="dim">{t.notAllChangedFilesAre}</p> : null}
          </>
        )}
      </Loaded>
    </section>
  );
}

function describeSource({ source, commit, base_commit, files, why }: Change): string {
  if (source === 'none') return why ?? t.noChangesToShow;
  const place = source === 'commit' ? (commit?.slice(0, 12) ?? '') : null;
  return t.source(files.length, formatCount(files.length), base_commit?.slice(0, 12), place);
}

function File({ file, opensFiles, review }: Readonly<{ file: ChangedFile; opensFiles: boolean; review: Review }>) {
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  // Lines are created only when the file is opened: a change can have many thousands.
  const isOpen = useSignal(opensFiles && lines <= 200);
  const commentCount = review.comments.filter(({ path }) => path === file.path).length;
  return (
    <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <code>
          {file.old_path === undefined ? null : (
            <>
              <SafeText text={file.old_path} /> →{' '}
            </>
          )}
          <SafeText text={file.path} />
        </code>{' '}
        <span class="dim">
          {labelState(file.change)}, +{formatCount(file.added)} −{formatCount(file.removed)}
          {commentCount === 0 ? '' : `, ${t.commentCount(commentCount)}`}
        </span>
      </summary>
      {isOpen.value && file.binary ? <p class="dim">{t.binaryFileNoLinesTo}</p> : null}
      {isOpen.value && !file.binary ? (
        <>
          {file.hunks.length === 0 && !file.truncated ? <p class="dim">{t.noLinesWereChanged}</p> : null}
          {file.hunks.map((hunk, index) => (
            <div key={index} class="hunk" role="group" aria-label={t.hunk(index + 1)}>
              {hunk.heading === '' ? null : <SafeText as="p" class="dim" text={hunk.heading} />}
              {hunk.lines.map((line, at) => (
                <Line key={at} path={file.path} oldPath={file.old_path ?? file.path} line={line} review={review} />
              ))}
            </div>
          ))}
          {file.truncated ? <p class="dim">{t.notAllChangedLinesAre}</p> : null}
        </>
      ) : null}
    </details>
  );
}

function Line(props: Readonly<{ path: string; oldPath: string; line: ChangedLine; review: Review }>) {
  const { path, oldPath, line, review } = props;
  const isWriting = useSignal(false);
  const position: LinePosition =
    line.new_line === null
      ? { path: oldPath, line: line.old_line ?? 1, side: 'old' }
      : { path, line: line.new_line, side: 'new' };
  const comment = findComment(review.comments, position);
  const positionText = (position.side === 'old' ? t.oldLine : t.line)(position.line);
  const { setComment } = review;
  return (
    <>
      <div class={`diff-line ${line.kind}`}>
        {setComment === null ? (
          <span class="line-number">{position.line}</span>
        ) : (
          <Button
            label={position.line}
            class="line-number"
            aria-label={t.commentOn(positionText)}
            aria-expanded={isWriting.value || comment !== undefined}
            onClick={() => (isWriting.value = !isWriting.value)}
          />
        )}
        <span class="sign" aria-hidden="true">
          {SIGNS[line.kind]}
        </span>
        <code>
          <span class="visually-hidden">{t.kinds[line.kind]}</span>
          <SafeText text={line.text} limit={2000} />
        </code>
      </div>
      {setComment !== null && (isWriting.value || comment !== undefined) ? (
        <div class="line-comment">
          <textarea
            aria-label={t.yourCommentOn(positionText)}
            rows={2}
            maxLength={5000}
            value={comment?.text ?? ''}
            onInput={(event) => setComment({ ...position, text: event.currentTarget.value })}
          />
        </div>
      ) : null}
    </>
  );
}
