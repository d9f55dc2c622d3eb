import { Icon } from '../ui/icon.js';
import type { IconName } from '../ui/icon.js';
import { formatWaiting, waiting } from '../server/waiting.js';
import { route } from './router.js';
import { askForToken, hasScope, session, signOut } from './session.js';
import { overlay } from './shortcuts.js';
import { nextTheme, theme } from './theme.js';

const ENTRIES: readonly {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  readonly pages: readonly string[];
}[] = [
  { path: '/runs', label: 'Runs', icon: 'runs', pages: ['runs', 'run'] },
  { path: '/inbox', label: 'Inbox', icon: 'inbox', pages: ['inbox'] },
  { path: '/issues', label: 'Issues', icon: 'issues', pages: ['issues'] },
  { path: '/outbox', label: 'Outbox', icon: 'outbox', pages: ['outbox'] },
  { path: '/executions', label: 'Executions', icon: 'executions', pages: ['executions'] },
  { path: '/workbench', label: 'Workbench', icon: 'workbench', pages: ['workbench'] },
  { path: '/workers', label: 'Workers', icon: 'workers', pages: ['workers'] },
  { path: '/charts', label: 'Charts', icon: 'charts', pages: ['charts'] },
];

/** Links to all pages, the number of open inbox items, the theme and the session. */
export function Navigation() {
  const { page } = route.value;
  const currentSession = session.value;
  return (
    <header class="navigation">
      <a class="brand" href="/runs">
        <Icon name="brand" />
        <span>Sluice</span>
      </a>
      <nav aria-label="Pages">
        <ul>
          {ENTRIES.map(({ path, label, icon, pages }) => (
            <li key={path}>
              <a href={path} aria-current={pages.includes(page) ? 'page' : undefined}>
                <Icon name={icon} />
                <span>{label}</span>
                {label !== 'Inbox' ? null : hasScope('read') ? <WaitingCount /> : <Count text="" />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="navigation-end">
        <button type="button" class="quiet" title="Ctrl+K" onClick={() => (overlay.value = 'palette')}>
          <Icon name="search" />
          <span>Commands</span>
        </button>
        <button type="button" class="quiet" onClick={() => (theme.value = nextTheme(theme.value))}>
          <Icon name="theme" />
          <span>Theme: {theme}</span>
        </button>
        {currentSession.state === 'signed-in' && currentSession.name === 'anonymous' ? (
          <button type="button" class="quiet" onClick={askForToken}>
            <Icon name="leave" />
            <span>Sign in</span>
          </button>
        ) : null}
        {currentSession.state === 'signed-in' &&
        currentSession.name !== 'local' &&
        currentSession.name !== 'anonymous' ? (
          <button type="button" class="quiet" onClick={() => void signOut()}>
            <Icon name="leave" />
            <span>Sign out {currentSession.name}</span>
          </button>
        ) : null}
        <a class="quiet" href="/docs">
          <Icon name="book" />
          <span>HTTP API</span>
        </a>
      </div>
    </header>
  );
}

/** The number of entries waiting for a decision or an answer. */
function WaitingCount() {
  return <Count text={waiting.value === null ? '' : formatWaiting(waiting.value)} />;
}

/** Reserves its space before the count is known, to prevent layout shift. */
function Count({ text }: { readonly text: string }) {
  if (text === '') return <span class="count none" aria-hidden="true" />;
  return (
    <span class="count">
      {text}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}
