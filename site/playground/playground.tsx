import { render } from 'preact';
import { Workbench } from '../../web/pages/workbench/workbench.js';
import { query, setQuery } from '../../web/app/router.js';
import { lazy } from '../../web/app/lazy.js';
import '../../web/styles/tokens.css';
import '../../web/styles/base.css';
import '../../web/styles/parts.css';
import '../../web/styles/forms.css';
import './playground.css';

/** The address of a server that was started without options. */
const SERVER = 'http://127.0.0.1:7171';

/** Shows the playground in an element of the page; returns a function that removes it. */
export function openPlayground(root: Element): () => void {
  render(<Playground />, root);
  return () => render(null, root);
}

const TABS = [
  { name: 'answer', title: 'A model’s answer' },
  { name: 'log', title: 'An agent’s log' },
] as const;

function Playground() {
  const tab = query.value.get('tab') === 'log' ? 'log' : 'answer';
  return (
    <>
      <div class="playground-tabs" role="group" aria-label="Input">
        {TABS.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            class="toggle"
            aria-pressed={tab === name}
            onClick={() => setQuery({ tab: name === 'answer' ? null : name })}
          >
            {title}
          </button>
        ))}
      </div>
      {tab === 'log' ? <LogTab /> : <Workbench title="Playground" server={SERVER} />}
    </>
  );
}

/** The readers of all agents are loaded only with this tab. */
const LogTab = lazy(async () => (await import('./log-tab.js')).LogTab, {
  loading: <p role="status">Loading the readers …</p>,
  failed: <p role="alert">The readers could not be loaded. Check the connection, then reload the page.</p>,
});
