import { Icon } from '../ui/icon.js';
import type { IconName } from '../ui/icon.js';
import { client } from '../server/client.js';
import { useResource } from '../server/use-resource.js';
import { route } from './router.js';
import { hasScope, session, signOut } from './session.js';
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
  { path: '/charts', label: 'Charts', icon: 'charts', pages: ['charts'] },
];

/** Links to all pages, the number of open inbox items, the theme and the session. */
export function Navigation() {
  const { page } = route.value;
  const who = session.value;
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
                {label !== 'Inbox' ? null : hasScope('read') ? <Waiting /> : <Count of={0} />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="navigation-end">
        <button type="button" class="quiet" onClick={() => (theme.value = nextTheme(theme.value))}>
          <Icon name="theme" />
          <span>Theme: {theme}</span>
        </button>
        {who.state === 'signed-in' && who.name !== 'local' ? (
          <button type="button" class="quiet" onClick={() => void signOut()}>
            <Icon name="leave" />
            <span>Sign out {who.name}</span>
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

/** The number of open items, counted up to a limit. */
function Waiting() {
  const most = 99;
  const inbox = useResource(
    'waiting',
    (signal) => client.listInbox({ query: { open: 'true', limit: most + 1 }, signal }),
    { live: true },
  );
  const count = inbox.value?.items.length ?? 0;
  return <Count of={count} most={most} />;
}

/** Takes its space before the count is known, so that nothing shifts. */
function Count({ of, most = of }: { readonly of: number; readonly most?: number }) {
  if (of === 0) return <span class="count none" aria-hidden="true" />;
  return (
    <span class="count">
      {of > most ? `${most}+` : of}
      <span class="unseen"> waiting</span>
    </span>
  );
}
