import type { Refusal } from '../../server/refusal.js';
import { SafeText } from '../../ui/safe-text.js';
import type { DecisionField, ResolveBody } from './decision-request.js';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ClientError } from '../../../src/client/index.js';
import { client } from '../../server/client.js';

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
      <h3>Comment to be delivered</h3>
      <p class="dim" role="status">
        {describeState(preview, isAsked, refusal)}
      </p>
      <pre class={preview.isCurrent ? '' : 'old'} aria-busy={isAsked && !preview.isCurrent}>
        {preview.comment === null ? null : <SafeText text={preview.comment} limit={WHOLE} />}
      </pre>
    </section>
  );
}

function describeState({ isCurrent }: Preview, isAsked: boolean, refusal: Refusal<DecisionField> | null): string {
  if (!isAsked) return 'Fill in the fields above to see the comment.';
  if (isCurrent) return 'Exactly as it will be delivered.';
  if (refusal === null) return 'Loading …';
  return refusal.message === null ? 'Correct the marked fields above.' : `Not available: ${refusal.message}`;
}

/** The comment that a decision would write. */
interface Preview {
  /** The last one that was answered; null if there was none. */
  readonly comment: string | null;
  /** It is the comment of exactly what is asked for now. */
  readonly isCurrent: boolean;
  /** Why there is no preview of the current decision. */
  readonly error: unknown;
}

const PAUSE_MS = 300;
/** An unreachable server is asked again, so that the preview appears when it is back. */
const AGAIN_MS = 2000;

/** Asks the server for the comment whenever the decision changes; null asks for nothing. */
export function usePreview(id: string, body: ResolveBody | null): Preview {
  const answer = useSignal<{ readonly key: string; readonly comment: string } | null>(null);
  const refusal = useSignal<{ readonly key: string; readonly error: unknown } | null>(null);
  const key = body === null ? '' : JSON.stringify([id, body]);
  useEffect(() => {
    if (body === null) return;
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async (): Promise<void> => {
      try {
        const { comment } = await client.previewResolution({ id, body, signal: control.signal });
        if (control.signal.aborted) return;
        answer.value = { key, comment };
        refusal.value = null;
      } catch (error) {
        if (control.signal.aborted) return;
        refusal.value = { key, error };
        if (isAway(error)) timer = setTimeout(() => void ask(), AGAIN_MS);
      }
    };
    timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return {
    comment: answer.value?.comment ?? null,
    isCurrent: answer.value?.key === key,
    error: refusal.value?.key === key ? refusal.value.error : null,
  };
}

function isAway(error: unknown): boolean {
  return error instanceof ClientError && (error.status === null || error.status >= 500);
}
