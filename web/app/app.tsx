import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { delayedActions } from '../data/delayed-actions.js';
import { formatWaiting, hasWorker, waiting, watchWaiting } from '../data/waiting.js';
import { Loading, Notice, PageNotLoaded } from '../ui/notice.js';
import { lazy } from './lazy.js';
import { Navigation } from './navigation.js';
import { notify } from './notifications.js';
import { PAGES, type Route } from './route.js';
import { followLinks, route } from './router.js';
import { hasScope, loadSession, watchSession, session, signIn } from './session.js';
import { listenToKeys, overlay } from './shortcuts.js';
import { applyTheme } from './theme.js';
import { Link } from '../ui/button.js';

/** The console: navigation, one page, and the session. */
export function App() {
  useEffect(() => {
    const stops = [applyTheme(), followLinks(), listenToKeys(), watchSession()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  const canRead = hasScope('read');
  useEffect(() => (canRead ? watchWaiting(notify) : undefined), [canRead]);
  const currentSession = session.value;
  return (
    <div class="shell">
      <Link label="Skip to content" class="skip" href="#main" />
      <Navigation />
      <main id="main" tabIndex={-1}>
        {currentSession.state === 'loading' ? <Loading /> : null}
        {currentSession.state === 'signed-out' ? <SignIn isExpired={currentSession.isExpired} /> : null}
        {currentSession.state === 'unreachable' ? (
          <Notice tone="bad" title="The server is not responding" action={{ label: 'Try again', run: loadSession }}>
            {currentSession.failure.message}
          </Notice>
        ) : null}
        {currentSession.state === 'signed-in' ? <Page route={route.value} /> : null}
      </main>
      {canRead && hasWorker.value === false ? <NoWorkerBanner /> : null}
      {delayedActions.value.length === 0 ? null : <PendingActions />}
      {overlay.value === null ? null : <Overlays key={overlay.value} />}
    </div>
  );
}

/** A banner that overlays the bottom of the page, so nothing moves when it appears. */
function NoWorkerBanner() {
  return (
    <div class="no-worker" role="alert">
      <strong>No worker is running.</strong> Queued runs and orders cannot start. <a href="/workers">Workers</a>
    </div>
  );
}

const Overlays = lazy(async () => (await import('./overlays.js')).Overlays);
const PendingActions = lazy(async () => (await import('./pending-actions.js')).PendingActions);

const lazyPage = (load: () => Promise<ComponentType>): ComponentType =>
  lazy(load, { loading: <Loading />, failed: <PageNotLoaded /> });

const VIEWS: Readonly<Record<Exclude<Route['page'], 'unknown'>, ComponentType>> = {
  runs: lazyPage(async () => (await import('../pages/runs/runs-page.js')).RunsPage),
  run: lazyPage(async () => (await import('../pages/run/run-page.js')).RunPage),
  inbox: lazyPage(async () => (await import('../pages/inbox/inbox-page.js')).InboxPage),
  issues: lazyPage(async () => (await import('../pages/issues/issues-page.js')).IssuesPage),
  outbox: lazyPage(async () => (await import('../pages/outbox/outbox-page.js')).OutboxPage),
  executions: lazyPage(async () => (await import('../pages/executions/executions-page.js')).ExecutionsPage),
  workbench: lazyPage(async () => (await import('../pages/workbench/workbench-page.js')).WorkbenchPage),
  workers: lazyPage(async () => (await import('../pages/workers/workers-page.js')).WorkersPage),
  charts: lazyPage(async () => (await import('../pages/charts/charts-page.js')).ChartsPage),
};

function Page({ route: current }: Readonly<{ route: Route }>) {
  const title = buildTitle(current, waiting.value === null ? '' : formatWaiting(waiting.value));
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (current.page === 'unknown') {
    return (
      <section class="stack">
        <h1>Page not found</h1>
        <p>
          There is no page at <code>{current.path.slice(0, 200)}</code>.
        </p>
        <p>
          <a href="/runs">All runs</a>
        </p>
      </section>
    );
  }
  const View = VIEWS[current.page];
  return <View key={current.page} />;
}

/** Builds the page title: the number of waiting entries, then the subject, to distinguish browser tabs. */
function buildTitle(current: Route, count: string): string {
  const subject = current.page === 'run' ? current.id : current.page === 'issues' ? current.ref : null;
  const label = current.page === 'unknown' ? 'Not found' : current.page === 'run' ? 'Run' : PAGES[current.page].label;
  const title = [...(subject === null ? [] : [subject]), label, 'Sluice'].join(' · ');
  return count === '' ? title : `(${count}) ${title}`;
}

/** Asks for a token. It is sent once, in exchange for a cookie; the page does not store it. */
function SignIn({ isExpired }: Readonly<{ isExpired: boolean }>) {
  const token = useSignal('');
  const refusal = useSignal<string | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const failure = await signIn(token.value.trim());
    refusal.value = failure?.message ?? null;
    if (failure === null) token.value = '';
  };
  return (
    <form class="card sign-in" onSubmit={(event) => void submit(event)}>
      <h1>Sign in</h1>
      {isExpired ? <p>Your session has expired, or its token was changed or removed. Sign in again.</p> : null}
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="current-password"
        required
        value={token.value}
        aria-describedby="token-help"
        aria-invalid={refusal.value !== null}
        onInput={(event) => (token.value = event.currentTarget.value)}
      />
      <p id="token-help" class={refusal.value === null ? 'help' : 'wrong'} role="status">
        {refusal.value ??
          'A token from the server’s configuration, or the one that sluice token prints. Your decisions are recorded under the token’s name.'}
      </p>
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}
