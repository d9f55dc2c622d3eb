import type { ComponentChildren } from 'preact';
import type { Failure, Resource } from '../data/resource.js';
import { Button } from './button.js';
import { t } from '../app/texts.js';

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

/** A message. Screen readers announce it immediately if its tone is `bad`. */
export function Notice(props: {
  readonly tone: Tone;
  readonly title: string;
  readonly action?: Readonly<{ label: string; run: () => unknown }>;
  readonly children?: ComponentChildren;
}) {
  const { tone, title, action, children } = props;
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children === undefined ? null : <div>{children}</div>}
      {action === undefined ? null : <Button label={action.label} onClick={() => void action.run()} />}
    </div>
  );
}

/** Reports that something could not be loaded: the reason, its code, and a button to try again. */
export function FailureNotice(
  props: Readonly<{ title: string; failure: Failure; reload: () => void; children?: ComponentChildren }>,
) {
  const { title, failure, reload, children } = props;
  return (
    <Notice tone="bad" title={title} action={{ label: t.tryAgain, run: reload }}>
      {omitApiHint(failure.message)} <code>{failure.code}</code> {children}
    </Notice>
  );
}

export function PageNotLoaded() {
  return (
    <Notice tone="bad" title={t.thePageCouldNotBe} action={{ label: t.reload, run: () => location.reload() }}>
      {t.theServerMayHaveBeen}
    </Notice>
  );
}

/** Removes the endpoint hint from a server message: it is meant for API clients, and the page shows a link instead. */
export function omitApiHint(message: string): string {
  return message.replace(/ GET \/v1\/\S+ lists all [\w ]+\.$/, '');
}

export function ReadOnly({ scope, purpose }: Readonly<{ scope: string; purpose: string }>) {
  return (
    <Notice tone="plain" title={t.readOnlyThisTokenLacks(scope)}>
      {t.signInToPurpose(purpose)}
    </Notice>
  );
}

/** Shows a resource once it has arrived; until then, its loading or failure. Without a title, it needs little space. */
export function Loaded<Value>(props: {
  readonly resource: Resource<Value>;
  readonly title?: string;
  readonly space?: keyof typeof LOADING_CLASSES;
  readonly hint?: ComponentChildren;
  readonly children?: (value: Value) => ComponentChildren;
}) {
  const {
    resource: { value, failure, reload },
    title,
    space = title === undefined ? 'line' : 'page',
    hint,
    children,
  } = props;
  if (value !== null) return <>{children?.(value)}</>;
  if (failure === null) return <Loading space={space} />;
  if (title === undefined) return <InlineFailure failure={failure} reload={reload} />;
  return (
    <FailureNotice title={title} failure={failure} reload={reload}>
      {hint}
    </FailureNotice>
  );
}

const LOADING_CLASSES = { page: 'loading', list: 'loading list-waiting', line: 'dim' };

/** A loading message that fills the space the content will need. */
export function Loading({ space = 'page' }: Readonly<{ space?: keyof typeof LOADING_CLASSES }>) {
  return (
    <p class={LOADING_CLASSES[space]} aria-busy="true">
      {t.loading}
    </p>
  );
}

/** Shows whether the content is up to date; old content stays while the server does not respond. */
export function UpToDate({ failure, live = '' }: Readonly<{ failure: Failure | null; live?: string }>) {
  return (
    <span class="dim" role="status">
      {failure === null ? (
        live
      ) : (
        <span class="away" title={failure.message}>
          {t.outOfDate(failure.code)}
        </span>
      )}
    </span>
  );
}

/** Why an action failed, next to its button; nothing if it did not. */
export function Refused({ why }: Readonly<{ why: string | null }>) {
  if (why === null) return null;
  return (
    <span class="wrong" role="alert">
      {why}
    </span>
  );
}

/** A failure, shown in place of the content that could not be loaded. */
export function InlineFailure({ failure, reload }: Readonly<{ failure: Failure; reload: () => void }>) {
  return (
    <p class="wrong" role="alert">
      {failure.message} <Button label={t.tryAgain} class="link" onClick={reload} />
    </p>
  );
}
