import type { Refusal } from '../../server/refusal.js';
import { SafeText } from '../../ui/safe-text.js';
import type { DecisionField } from './decision-request.js';
import type { Preview } from './use-preview.js';

/** Longer than any comment: a preview is shown whole. */
const WHOLE = 200_000;

/** The comment, exactly as it will be delivered. */
export function CommentPreview({
  preview,
  isAsked,
  refusal,
}: {
  readonly preview: Preview;
  readonly isAsked: boolean;
  readonly refusal: Refusal<DecisionField> | null;
}) {
  return (
    <section class="comment-preview" aria-label="Comment">
      <h3>The comment that will be delivered</h3>
      <p class="dim" role="status">
        {sayHow(preview, isAsked, refusal)}
      </p>
      <pre class={preview.isCurrent ? '' : 'old'} aria-busy={isAsked && !preview.isCurrent}>
        {preview.comment === null ? null : <SafeText text={preview.comment} limit={WHOLE} />}
      </pre>
    </section>
  );
}

function sayHow({ isCurrent }: Preview, isAsked: boolean, refusal: Refusal<DecisionField> | null): string {
  if (!isAsked) return 'It appears here as soon as the fields above are filled in.';
  if (isCurrent) return 'Word for word.';
  if (refusal === null) return 'Asking the server …';
  return refusal.message === null ? 'Something above does not fit yet.' : `Not yet: ${refusal.message}`;
}
