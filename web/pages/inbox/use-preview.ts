import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ClientError } from '../../../src/client/index.js';
import type { Client } from '../../../src/client/index.js';
import { client } from '../../server/client.js';

/** What `POST /v1/inbox/{id}/resolve` takes. */
export type ResolveBody = Parameters<Client['resolveItem']>[0]['body'];

/** The comment that a decision would write. */
export interface Preview {
  /** The last one that was answered; null if there was none. */
  readonly comment: string | null;
  /** It is the comment of exactly what is asked for now. */
  readonly isCurrent: boolean;
  /** Why there is none of what is asked for now. */
  readonly error: unknown;
}

const PAUSE_MS = 300;
/** A server that is away is asked again, so that the preview comes by itself when it is back. */
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
