import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Notice } from '../ui/notice.js';
import { Navigation } from './navigation.js';
import { Page } from './page.js';
import { followLinks, route } from './router.js';
import { loadSession, watchSession, session } from './session.js';
import { SignIn } from './sign-in.js';
import { listenToKeys, overlay } from './shortcuts.js';
import { applyTheme } from './theme.js';

/** The console: navigation, one page, and the session. */
export function App() {
  useEffect(() => {
    const stops = [applyTheme(), followLinks(), listenToKeys(), watchSession()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);

  const who = session.value;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        {who.state === 'loading' ? <Loading /> : null}
        {who.state === 'signed-out' ? <SignIn /> : null}
        {who.state === 'unreachable' ? (
          <Notice tone="bad" title="The server does not answer" action={{ label: 'Try again', run: loadSession }}>
            {who.failure.message}
          </Notice>
        ) : null}
        {who.state === 'signed-in' ? <Page route={route.value} /> : null}
      </main>
      {overlay.value === null ? null : <LazyOverlays />}
    </div>
  );
}

/** Loaded when first opened: most visits never need it. */
function LazyOverlays() {
  const [View, setView] = useState<ComponentType | null>(null);
  useEffect(() => {
    let isWanted = true;
    import('./overlays.js').then(
      ({ Overlays }) => isWanted && setView(() => Overlays),
      () => (overlay.value = null),
    );
    return () => {
      isWanted = false;
    };
  }, []);
  return View === null ? null : <View key={overlay.value} />;
}
