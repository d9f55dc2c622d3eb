import type { ComponentChildren } from 'preact';
import type { Failure } from '../server/use-resource.js';
import { Notice } from './notice.js';

/** Something could not be read: why, the code to look it up by, a way to try again, and where else to go. */
export function FailureNotice({
  title,
  failure,
  reload,
  children,
}: {
  readonly title: string;
  readonly failure: Failure;
  readonly reload: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <Notice tone="bad" title={title} action={{ label: 'Try again', run: reload }}>
      {failure.message} <code>{failure.code}</code> {children}
    </Notice>
  );
}
