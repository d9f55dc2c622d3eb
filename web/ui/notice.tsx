import type { ComponentChildren } from 'preact';
import type { Failure, Resource } from '../server/use-resource.js';

/** The severity of a message. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad';

/** A message in the place of what it is about; a bad one is read out at once. */
export function Notice({
  tone,
  title,
  action,
  children,
}: {
  readonly tone: Tone;
  readonly title: string;
  readonly action?: { readonly label: string; readonly run: () => unknown };
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children === undefined ? null : <div>{children}</div>}
      {action === undefined ? null : (
        <button type="button" onClick={() => void action.run()}>
          {action.label}
        </button>
      )}
    </div>
  );
}

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
      {omitApiHint(failure.message)} <code>{failure.code}</code> {children}
    </Notice>
  );
}

/**
 * A message of the server without the endpoint that a program would call next: a page has a link for that.
 *
 * @example
 * omitApiHint('Run not found. GET /v1/runs lists all runs.') // 'Run not found.'
 */
export function omitApiHint(message: string): string {
  return message.replace(/ GET \/v1\/\S+ lists all [\w ]+\.$/, '');
}

/** A form does not know what the server offers to choose from; what was written in it stays. */
export function OfferFailure({ offer: { failure, reload } }: { readonly offer: Resource<unknown> }) {
  if (failure === null) return null;
  return (
    <FailureNotice title="Cannot load the options of this server" failure={failure} reload={reload}>
      Your input is kept.
    </FailureNotice>
  );
}

const LOADING_CLASSES = { page: 'loading', list: 'loading list-waiting', line: 'dim' };

/** A loading message in the space that the content will take. */
export function Loading({ space = 'page' }: { readonly space?: keyof typeof LOADING_CLASSES }) {
  return (
    <p class={LOADING_CLASSES[space]} aria-busy="true">
      Loading …
    </p>
  );
}

/** Whether what is shown is up to date: it stays while the server does not answer, and the request is repeated. */
export function UpToDate({ failure, live = '' }: { readonly failure: Failure | null; readonly live?: string }) {
  return (
    <span class="dim" role="status">
      {failure === null ? (
        live
      ) : (
        <span class="away" title={failure.message}>
          Out of date ({failure.code}). Retrying …
        </span>
      )}
    </span>
  );
}

/** A failure shown in place of the part of a page that could not be loaded. */
export function InlineFailure({ failure, reload }: { readonly failure: Failure; readonly reload: () => void }) {
  return (
    <p class="wrong" role="alert">
      {failure.message}{' '}
      <button type="button" class="link" onClick={reload}>
        Try again
      </button>
    </p>
  );
}
