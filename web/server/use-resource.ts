import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getErrorMessage, isSluiceError } from '../../src/base/index.js';

/** A resource of the server: loading, loaded, or refused; loaded data stays while it is requested again. */
export interface Resource<Value> {
  readonly value: Value | null;
  readonly failure: Failure | null;
  /** Asks again now. */
  readonly reload: () => void;
}

/** Why an answer is missing, in words for a person. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** How often a live list is requested again. */
const EVERY_MS = 2000;

/**
 * Loads something from the server, and polls it if `live` while the page is visible. `key` identifies the request: another
 * key starts over.
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
  const turn = useSignal(0);

  // The value of another key would be shown under the wrong name.
  useEffect(() => {
    value.value = null;
    failure.value = null;
  }, [key]);

  const wanted = turn.value;
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      // A single request is sent even in a hidden tab: a page may be opened in the background.
      if (!live || !document.hidden) {
        try {
          const answer = await load(control.signal);
          if (control.signal.aborted) return;
          value.value = answer;
          failure.value = null;
        } catch (error) {
          if (control.signal.aborted) return;
          failure.value = asFailure(error);
        }
      }
      if (live) timer = setTimeout(() => void ask(), EVERY_MS);
    };
    void ask();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key, wanted, live]);

  return { value: value.value, failure: failure.value, reload: () => (turn.value += 1) };
}

/** Converts an error to a failure to show; Sluice's own errors have a readable message. */
export function asFailure(error: unknown): Failure {
  if (isSluiceError(error)) return { code: error.code, message: error.message };
  return { code: 'UNEXPECTED', message: getErrorMessage(error) };
}
