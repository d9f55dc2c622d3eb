import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Notice } from '../ui/notice.js';
import { Navigation } from './navigation.js';
import { Page } from './page.js';
import { followLinks, route } from './router.js';
import { hasScope, loadSession, watchSession, session } from './session.js';
import { SignIn } from './sign-in.js';
import { listenToKeys, overlay } from './shortcuts.js';
import { applyTheme } from './theme.js';
import { delayedActions } from '../server/delayed-actions.js';
import { hasWorker, watchWaiting } from '../server/waiting.js';
import { notify } from './notifications.js';

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
      <a class="skip" href="#main">
        Skip to content
      </a>
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
      {delayedActions.value.length === 0 ? null : <LazyPendingActions />}
      {overlay.value === null ? null : <LazyOverlays />}
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

/** Loaded when first opened: most visits never need it. */
function LazyOverlays() {
  const View = useLazy(async () => (await import('./overlays.js')).Overlays);
  return View === null ? null : <View key={overlay.value} />;
}

function LazyPendingActions() {
  const View = useLazy(async () => (await import('./pending-actions.js')).PendingActions);
  return View === null ? null : <View />;
}

/** Lazily loads a view when it is first shown; null until then, or if loading fails. */
function useLazy(load: () => Promise<ComponentType>): ComponentType | null {
  const [View, setView] = useState<ComponentType | null>(null);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (view) => isCurrent && setView(() => view),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return View;
}
