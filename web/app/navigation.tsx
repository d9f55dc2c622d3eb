import { formatWaiting, waiting } from '../data/waiting.js';
import { PAGE_NAMES, PAGES } from './route.js';
import { route } from './router.js';
import { askForToken, canSignOut, hasScope, session, signOut } from './session.js';
import { overlay } from './shortcuts.js';
import { nextTheme, theme } from './theme.js';

/** Links to all pages, the number of open inbox items, the theme and the session. */
export function Navigation() {
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
