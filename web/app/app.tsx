import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { delayedActions } from '../data/delayed-actions.js';
import { deadWorkers, formatWaiting, hasWorker, waiting, watchWaiting } from '../data/waiting.js';
import { Loading, Notice, PageNotLoaded, Link } from '../ui/parts.js';
import { lazy } from './lazy.js';
import { notify } from './notifications.js';
import { switchLanguage } from './language.js';
import { PAGE_GROUPS, type Route } from './route.js';
import { followLinks, route } from './router.js';
import { hasScope, loadSession, watchSession, session, signIn, askForToken, canSignOut, signOut } from './session.js';
import { listenToKeys, overlay } from './shortcuts.js';
import { applyTheme, nextTheme, theme } from './theme.js';
import { t } from './texts.js';

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
      <Link label={t.skipToContent} class="skip" href="#main" />
      <Navigation />
      <main id="main" tabIndex={-1}>
        {currentSession.state === 'loading' ? <Loading /> : null}
        {currentSession.state === 'signed-out' ? <SignIn isExpired={currentSession.isExpired} /> : null}
        {currentSession.state === 'unreachable' ? (
          <Notice tone="bad" title={t.theServerIsNotResponding} action={{ label: t.tryAgain, run: loadSession }}>
            {currentSession.failure.message}
          </Notice>
        ) : null}
        {currentSession.state === 'signed-in' ? <Page route={route.value} /> : null}
      </main>
      {/* Overlays the bottom of the page, so nothing moves when it appears. */}
      {canRead && hasWorker.value === false ? (
        <div class="no-worker" role="alert">
          <strong>{t.noWorkerIsRunning}</strong>
          {t.queuedRunsAndOrdersCannot}
          <a href="/workers">{t.pages.workers}</a>
        </div>
      ) : null}
      {delayedActions.value.length === 0 ? null : <PendingActions />}
      {overlay.value === null ? null : <Overlays key={overlay.value} />}
    </div>
  );
}

const Overlays = lazy(async () => (await import('./overlays.js')).Overlays);
const PendingActions = lazy(async () => (await import('./overlays.js')).PendingActions);

const lazyPage = (load: () => Promise<ComponentType>): ComponentType =>
  lazy(load, { loading: <Loading />, failed: <PageNotLoaded /> });

const VIEWS: Readonly<Record<Exclude<Route['page'], 'unknown'>, ComponentType>> = {
  now: lazyPage(async () => (await import('../pages/now/now-page.js')).NowPage),
  schedules: lazyPage(async () => (await import('../pages/system/schedules-page.js')).SchedulesPage),
  sinks: lazyPage(async () => (await import('../pages/delivery/sinks-page.js')).SinksPage),
  budgets: lazyPage(async () => (await import('../pages/system/system-pages.js')).BudgetsPage),
  rules: lazyPage(async () => (await import('../pages/system/system-pages.js')).RulesPage),
  tokens: lazyPage(async () => (await import('../pages/system/system-pages.js')).TokensPage),
  runs: lazyPage(async () => (await import('../pages/runs/runs-page.js')).RunsPage),
  run: lazyPage(async () => (await import('../pages/run/run-page.js')).RunPage),
  inbox: lazyPage(async () => (await import('../pages/inbox/inbox-page.js')).InboxPage),
  issues: lazyPage(async () => (await import('../pages/issues/issues-page.js')).IssuesPage),
  outbox: lazyPage(async () => (await import('../pages/delivery/outbox-page.js')).OutboxPage),
  executions: lazyPage(async () => (await import('../pages/delivery/executions-page.js')).ExecutionsPage),
  workbench: lazyPage(async () => (await import('../pages/workbench/workbench-page.js')).WorkbenchPage),
  workers: lazyPage(async () => (await import('../pages/system/system-pages.js')).WorkersPage),
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
        <h1>{t.pageNotFound}</h1>
        <p>
          {t.thereIsNoPageAt}
          <code>{current.path.slice(0, 200)}</code>
        </p>
        <p>
          <a href="/runs">{t.allRuns}</a>
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
  const label = current.page === 'unknown' ? t.notFound : current.page === 'run' ? t.run : t.pages[current.page];
  const title = [...(subject === null ? [] : [subject]), label, t.sluice].join(' · ');
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
      <h1>{t.signIn}</h1>
      {isExpired ? <p>{t.yourSessionHasExpiredOr}</p> : null}
      <label for="token">{t.token}</label>
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
        {refusal.value ?? t.aTokenFromTheServers}
      </p>
      <button type="submit" class="primary">
        {t.signIn}
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
      <a class="brand" href="/now">
        <Icon name="brand" />
        <span>{t.sluice}</span>
      </a>
      <nav aria-label={t.pagesLabel}>
        {PAGE_GROUPS.map(({ group, pages }) => (
          <div key={group} class={group === 'work' ? 'nav-group' : 'nav-group minor'}>
            <p id={`nav-${group}`}>{t.groups[group]}</p>
            <ul class="list" aria-labelledby={`nav-${group}`}>
              {pages.map((entry) => (
                <li key={entry}>
                  <a href={`/${entry}`} aria-current={entry === (page === 'run' ? 'runs' : page) ? 'page' : undefined}>
                    <Icon name={entry} />
                    <span>{t.pages[entry]}</span>
                    {entry === 'inbox' ? <Count /> : entry === 'workers' ? <DeadCount /> : null}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <button type="button" class="nav-more" onClick={() => (overlay.value = 'palette')}>
          <Icon name="more" />
          <span>{t.more}</span>
          <DeadCount />
        </button>
      </nav>
      <div class="navigation-end">
        <NavigationButton icon="search" label={t.commands} title="Ctrl+K" onClick={() => (overlay.value = 'palette')} />
        <NavigationButton
          icon="theme"
          label={t.themes[theme.value]}
          onClick={() => (theme.value = nextTheme(theme.value))}
        />
        <NavigationButton icon="language" label={t.otherLanguage} onClick={switchLanguage} />
        {name === 'anonymous' ? <NavigationButton icon="leave" label={t.signIn} onClick={askForToken} /> : null}
        {canSignOut() ? (
          <NavigationButton icon="leave" label={t.signOutName(name ?? '')} onClick={() => void signOut()} />
        ) : null}
        <a class="quiet" href="/docs">
          <Icon name="book" />
          <span>{t.httpApi}</span>
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
      <span class="visually-hidden">{t.waiting}</span>
    </span>
  );
}

/** The number of dead workers, visible from every page. */
function DeadCount() {
  const count = deadWorkers.value.length;
  if (count === 0) return null;
  return (
    <span class="count bad">
      {count}
      <span class="visually-hidden"> {t.workersHaveDied(count)}</span>
    </span>
  );
}

/** Paths on a grid of 24 × 24, drawn in the colour of the surrounding text. */
const PATHS = {
  brand: 'M4 5h16M7 5v5l5 4 5-4V5M12 14v6',
  now: 'M3 12h4l3-8 4 16 3-8h4',
  runs: 'M6 4l13 8-13 8z',
  schedules: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l4 2',
  sinks: 'M4 4h16l-6 8v7l-4 2v-9z',
  budgets: 'M4 7h16v12H4zM4 7l10-4 2 4M16 13h.5',
  rules: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4',
  tokens: 'M8 12a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 13l9-9M16 8l3 3',
  more: 'M5 12h.5M12 12h.5M19 12h.5',
  inbox: 'M3 13l3-8h12l3 8v6H3zM3 13h5l1 3h6l1-3h5',
  issues: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16v.5',
  outbox: 'M3 11l18-7-6 17-4-7zM21 4L11 14',
  executions: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7',
  workbench: 'M8 4c-3 0-2 4-2 6s-2 2-2 2 2 0 2 2-1 6 2 6M16 4c3 0 2 4 2 6s2 2 2 2-2 0-2 2 1 6-2 6',
  workers: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.5M8 16h.5',
  charts: 'M4 4v16h16M8 15l4-5 3 3 5-7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  theme: 'M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z',
  language: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18',
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
