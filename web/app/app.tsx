import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { delayedActions } from '../data/delayed-actions.js';
import { formatWaiting, hasWorker, waiting, watchWaiting } from '../data/waiting.js';
import { Loading, Notice, PageNotLoaded } from '../ui/notice.js';
import { lazy } from './lazy.js';
import { notify } from './notifications.js';
import { PAGES, type Route, PAGE_NAMES } from './route.js';
import { followLinks, route } from './router.js';
import { hasScope, loadSession, watchSession, session, signIn, askForToken, canSignOut, signOut } from './session.js';
import { listenToKeys, overlay } from './shortcuts.js';
import { applyTheme, nextTheme, theme } from './theme.js';
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
const PendingActions = lazy(async () => (await import('./overlays.js')).PendingActions);

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

/** Links to all pages, the number of open inbox items, the theme and the session. */
function Navigation() {
  const { page } = route.value;
  const name = session.value.state === 'signed-in' ? session.value.name : null;
  return (
    <header class="navigation">
      <a class="brand" href="/runs">
        <Icon name="brand" />
        <span>Sluice</span>
      </a>
      <nav aria-label="Pages">
        <ul>
          {PAGE_NAMES.map((entry) => (
            <li key={entry}>
              <a href={`/${entry}`} aria-current={entry === (page === 'run' ? 'runs' : page) ? 'page' : undefined}>
                <Icon name={entry} />
                <span>{PAGES[entry].label}</span>
                {entry === 'inbox' ? <Count /> : null}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="navigation-end">
        <NavigationButton icon="search" label="Commands" title="Ctrl+K" onClick={() => (overlay.value = 'palette')} />
        <NavigationButton
          icon="theme"
          label={`Theme: ${theme.value}`}
          onClick={() => (theme.value = nextTheme(theme.value))}
        />
        {name === 'anonymous' ? <NavigationButton icon="leave" label="Sign in" onClick={askForToken} /> : null}
        {canSignOut() ? (
          <NavigationButton icon="leave" label={`Sign out ${name ?? ''}`} onClick={() => void signOut()} />
        ) : null}
        <a class="quiet" href="/docs">
          <Icon name="book" />
          <span>HTTP API</span>
        </a>
      </div>
    </header>
  );
}

function NavigationButton(props: Readonly<{ icon: IconName; label: string; title?: string; onClick: () => void }>) {
  return (
    <button type="button" class="quiet" title={props.title} onClick={props.onClick}>
      <Icon name={props.icon} />
      <span>{props.label}</span>
    </button>
  );
}

/** The number of waiting entries. It reserves its space before it is known, to prevent layout shift. */
function Count() {
  const text = hasScope('read') && waiting.value !== null ? formatWaiting(waiting.value) : '';
  if (text === '') return <span class="count none" aria-hidden="true" />;
  return (
    <span class="count">
      {text}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}

/** Paths on a grid of 24 × 24, drawn in the colour of the surrounding text. */
const PATHS = {
  brand: 'M4 5h16M7 5v5l5 4 5-4V5M12 14v6',
  runs: 'M6 4l13 8-13 8z',
  inbox: 'M3 13l3-8h12l3 8v6H3zM3 13h5l1 3h6l1-3h5',
  issues: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16v.5',
  outbox: 'M3 11l18-7-6 17-4-7zM21 4L11 14',
  executions: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7',
  workbench: 'M8 4c-3 0-2 4-2 6s-2 2-2 2 2 0 2 2-1 6 2 6M16 4c3 0 2 4 2 6s2 2 2 2-2 0-2 2 1 6-2 6',
  workers: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.5M8 16h.5',
  charts: 'M4 4v16h16M8 15l4-5 3 3 5-7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  theme: 'M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  book: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2',
} as const;

type IconName = keyof typeof PATHS;

/** An icon. It always has a text equivalent next to it, so it is hidden from screen readers. */
function Icon({ name }: Readonly<{ name: IconName }>) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
