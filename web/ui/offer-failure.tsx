import type { Resource } from '../server/use-resource.js';
import { FailureNotice } from './failure-notice.js';

/** A form does not know what the server offers to choose from; what was written in it stays. */
export function OfferFailure({ offer: { failure, reload } }: { readonly offer: Resource<unknown> }) {
  if (failure === null) return null;
  return (
    <FailureNotice title="What the server offers could not be read" failure={failure} reload={reload}>
      What you write here stays.
    </FailureNotice>
  );
}
