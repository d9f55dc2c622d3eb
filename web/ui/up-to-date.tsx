import type { Failure } from '../server/use-resource.js';

/** Whether what is shown is still news: what is shown stays while the server is away, and it is asked again. */
export function UpToDate({ failure, live = '' }: { readonly failure: Failure | null; readonly live?: string }) {
  return (
    <span class="dim" role="status">
      {failure === null ? (
        live
      ) : (
        <span class="away" title={failure.message}>
          Not up to date ({failure.code}). Trying again …
        </span>
      )}
    </span>
  );
}
