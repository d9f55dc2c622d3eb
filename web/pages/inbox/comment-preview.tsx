import type { Refusal } from '../../server/refusal.js';
import { SafeText } from '../../ui/safe-text.js';
import type { DecisionField, ResolveBody } from './decision-request.js';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ClientError } from '../../../src/client/index.js';
import { client } from '../../server/client.js';

/** Longer than any comment, so the preview is always complete. */
const MAX_LENGTH = 200_000;

/** Shows the comment exactly as it will be delivered. */
export function CommentPreview({
  preview,
  isRequested,
  refusal,
}: {
  readonly preview: Preview;
  readonly isRequested: boolean;
  readonly refusal: Refusal<DecisionField> | null;
}) {
  return (
    <section class="comment-preview" aria-label="Comment">
      <h3>Comment to be delivered</h3>
      <p class="dim" role="status">
        {describeState(preview, isRequested, refusal)}
      </p>
      <pre class={preview.isCurrent ? '' : 'old'} aria-busy={isRequested && !preview.isCurrent}>
        {preview.comment === null ? null : <SafeText text={preview.comment} limit={MAX_LENGTH} />}
      </pre>
    </section>
  );
}

function describeState({ isCurrent }: Preview, isRequested: boolean, refusal: Refusal<DecisionField> | null): string {
  if (!isRequested) return 'Fill in the fields above to see the comment.';
  if (isCurrent) return 'Exactly as it will be delivered.';
  if (refusal === null) return 'Loading …';
  return refusal.message === null ? 'Correct the marked fields above.' : `Not available: ${refusal.message}`;
}

/** The comment that a decision would write. */
interface Preview {
  /** The last loaded comment, or null. */
  readonly comment: string | null;
  /** Whether the comment belongs to the current decision. */
  readonly isCurrent: boolean;
  /** Why the current decision has no preview. */
  readonly error: unknown;
}

const DEBOUNCE_MS = 300;
/** How often to retry while the server is unreachable, so the preview appears once it responds. */
const RETRY_MS = 2000;

/** Loads the comment from the server whenever the decision changes; null loads nothing. */
export function usePreview(id: string, body: ResolveBody | null): Preview {
  const loaded = useSignal<{ readonly key: string; readonly comment: string } | null>(null);
  const refusal = useSignal<{ readonly key: string; readonly error: unknown } | null>(null);
  const key = body === null ? '' : JSON.stringify([id, body]);
  useEffect(() => {
    if (body === null) return;
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const load = async (): Promise<void> => {
      try {
        const { comment } = await client.previewResolution({ id, body, signal: control.signal });
        if (control.signal.aborted) return;
        loaded.value = { key, comment };
        refusal.value = null;
      } catch (error) {
        if (control.signal.aborted) return;
        refusal.value = { key, error };
        if (isUnavailable(error)) timer = setTimeout(() => void load(), RETRY_MS);
      }
    };
    timer = setTimeout(() => void load(), DEBOUNCE_MS);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return {
    comment: loaded.value?.comment ?? null,
    isCurrent: loaded.value?.key === key,
    error: refusal.value?.key === key ? refusal.value.error : null,
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ClientError && (error.status === null || error.status >= 500);
}
