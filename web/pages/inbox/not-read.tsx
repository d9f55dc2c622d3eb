import type { Failure } from '../../server/use-resource.js';

/** A part of an item that could not be read, where it would stand. */
export function NotRead({ failure, reload }: { readonly failure: Failure; readonly reload: () => void }) {
  return (
    <p class="wrong" role="alert">
      {failure.message}{' '}
      <button type="button" class="link" onClick={reload}>
        Try again
      </button>
    </p>
  );
}
