import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { formatWaiting, waiting } from '../server/waiting.js';
import { Loading, PageNotLoaded } from '../ui/notice.js';
import type { Route } from './route.js';

type PageName = Exclude<Route['page'], 'unknown'>;

/** Pages are loaded on first use to keep the initial load small. */
const PAGES: Readonly<Record<PageName, { readonly title: string; readonly load: () => Promise<ComponentType> }>> = {
  runs: { title: 'Runs', load: async () => (await import('../pages/runs/runs-page.js')).RunsPage },
  run: { title: 'Run', load: async () => (await import('../pages/run/run-page.js')).RunPage },
  inbox: { title: 'Inbox', load: async () => (await import('../pages/inbox/inbox-page.js')).InboxPage },
  issues: { title: 'Issues', load: async () => (await import('../pages/issues/issues-page.js')).IssuesPage },
  outbox: { title: 'Outbox', load: async () => (await import('../pages/outbox/outbox-page.js')).OutboxPage },
  executions: {
    title: 'Executions',
    load: async () => (await import('../pages/executions/executions-page.js')).ExecutionsPage,
  },
  workbench: {
    title: 'Workbench',
    load: async () => (await import('../pages/workbench/workbench-page.js')).WorkbenchPage,
  },
  workers: { title: 'Workers', load: async () => (await import('../pages/workers/workers-page.js')).WorkersPage },
  charts: { title: 'Charts', load: async () => (await import('../pages/charts/charts-page.js')).ChartsPage },
};

type Loaded =
  | { readonly name: PageName; readonly view: ComponentType }
  | { readonly name: PageName; readonly failed: true };

/** Loads and shows a route's page. */
export function Page({ route }: { readonly route: Route }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const name = route.page;
  const title = buildTitle(route, waiting.value === null ? '' : formatWaiting(waiting.value));
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (name === 'unknown') return;
    let isWanted = true;
    PAGES[name].load().then(
      (view) => isWanted && setLoaded({ name, view }),
      () => isWanted && setLoaded({ name, failed: true }),
    );
    return () => {
      isWanted = false;
    };
  }, [name]);

  if (route.page === 'unknown') {
    return (
      <section class="stack">
        <h1>Page not found</h1>
        <p>
          There is no page at <code>{route.path.slice(0, 200)}</code>.
        </p>
        <p>
          <a href="/runs">All runs</a>
        </p>
      </section>
    );
  }
  if (loaded?.name !== route.page) return <Loading />;
  if ('failed' in loaded) return <PageNotLoaded />;
  const View = loaded.view;
  return <View />;
}

/** Builds the page title: the number of waiting entries, then the subject, to distinguish browser tabs. */
function buildTitle(route: Route, count: string): string {
  const title = getRouteTitle(route);
  return count === '' ? title : `(${count}) ${title}`;
}

function getRouteTitle(route: Route): string {
  if (route.page === 'unknown') return 'Not found · Sluice';
  const subject = route.page === 'run' ? route.id : route.page === 'issues' ? route.ref : null;
  return [...(subject === null ? [] : [subject]), PAGES[route.page].title, 'Sluice'].join(' · ');
}
