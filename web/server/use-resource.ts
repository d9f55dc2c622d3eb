import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getErrorMessage, isSluiceError } from '../../src/base/index.js';

/** A server resource: loading, loaded or failed. A loaded value stays while it is being refetched. */
export interface Resource<Value> {
  readonly value: Value | null;
  readonly failure: Failure | null;
  /** Refetches the resource immediately. */
  readonly reload: () => void;
}

/** A failed request's code and readable message. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** How often a live resource is refetched. */
const POLL_MS = 2000;

/**
 * Loads a resource from the server; with `live`, also polls it while the page is visible. `key` identifies the request;
 * when it changes, the old value is dropped.
 *
 * @example
 * const runs = useResource(`runs ${engine}`, (signal) => client.listRuns({ query: { engine }, signal }), { live: true })
 */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { live = false }: { readonly live?: boolean } = {},
): Resource<Value> {
  const value = useSignal<Value | null>(null);
  const failure = useSignal<Failure | null>(null);
  const reloadCount = useSignal(0);

  // After the key changes, the value belongs to another request.
  useEffect(() => {
    value.value = null;
    failure.value = null;
  }, [key]);

  const reloads = reloadCount.value;
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const request = async (): Promise<void> => {
      // One-off requests are sent even from a hidden tab, because a page can be opened in the background.
      if (!live || !document.hidden) {
        try {
          const loaded = await load(control.signal);
          if (control.signal.aborted) return;
          value.value = loaded;
          failure.value = null;
        } catch (error) {
          if (control.signal.aborted) return;
          failure.value = asFailure(error);
        }
      }
      if (live) timer = setTimeout(() => void request(), POLL_MS);
    };
    void request();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key, reloads, live]);

  return { value: value.value, failure: failure.value, reload: () => (reloadCount.value += 1) };
}

/** Converts an error to a displayable failure. */
export function asFailure(error: unknown): Failure {
  if (isSluiceError(error)) return { code: error.code, message: error.message };
  return { code: 'UNEXPECTED', message: getErrorMessage(error) };
}
