import { useEffect } from 'preact/hooks';
import { Notice } from '../ui/notice.js';
import { Navigation } from './navigation.js';
import { Page } from './page.js';
import { followLinks, route } from './router.js';
import { askWhoLooks, keepSession, session } from './session.js';
import { SignIn } from './sign-in.js';
import { listenToKeys } from './shortcuts.js';
import { applyTheme } from './theme.js';

/** The console: navigation, one page, and who looks at it. */
export function App() {
  useEffect(() => {
    const stops = [applyTheme(), followLinks(), listenToKeys(), keepSession()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);

  const who = session.value;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        {who.state === 'stranger' ? <SignIn /> : null}
        {who.state === 'unreachable' ? (
          <Notice tone="bad" title="The server does not answer" action={{ label: 'Try again', run: askWhoLooks }}>
            {who.failure.message}
          </Notice>
        ) : null}
        {who.state === 'known' ? <Page route={route.value} /> : null}
      </main>
    </div>
  );
}
