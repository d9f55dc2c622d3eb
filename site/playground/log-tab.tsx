import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ENGINE_NAMES } from '../../src/events/index.js';
import { query, setQuery } from '../../web/app/router.js';
import { ShareButton } from '../../web/pages/workbench/code-panel.js';
import { ConversationPane } from '../../web/pages/run/conversation-pane.js';
import { EventsPane, RawPane } from '../../web/pages/run/panes.js';
import { formatCount } from '../../web/ui/text.js';
import { Badge, Button } from '../../web/ui/parts.js';
import { LOG_EXAMPLES } from './log-examples.js';
import { openLog, type OpenLog } from './open-log.js';
import '../../web/pages/run/run.css';

/** Longer logs would block the page while they are read. */
const MAX_LENGTH = 4 * 1024 * 1024;

const PANES = [
  { title: 'Conversation', view: ConversationPane },
  { title: 'Events', view: EventsPane },
  { title: 'Raw bytes', view: RawPane },
] as const;

/** A pasted log of an agent: the conversation, the events and the bytes behind each of them. */
export function LogTab() {
  const text = useSignal(LOG_EXAMPLES[0]?.text ?? '');
  const engine = readEngine(query.value.get('engine'));
  const isTooLong = text.value.length > MAX_LENGTH;
  const log = useMemo(
    () => (text.value === '' || isTooLong ? null : openLog(text.value, engine)),
    [text.value, engine, isTooLong],
  );
  return (
    <div class="stack">
      <div class="page-head">
        <h1>Playground</h1>
        <label class="row">
          Agent
          <select
            value={engine}
            onChange={({ currentTarget: { value } }) => setQuery({ engine: value === 'auto' ? null : value })}
          >
            {['auto', ...ENGINE_NAMES].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {log === null ? null : <Summary log={log} />}
        <span class="end">
          <ShareButton
            read={() => ({ text: text.value, schemaText: '' })}
            open={(shared) => (text.value = shared.text)}
          />
        </span>
      </div>
      <section class="card stack log-input" aria-labelledby="playground-log">
        <div class="row">
          <h2 id="playground-log">Log</h2>
          <span class="end row">
            {LOG_EXAMPLES.map((example) => (
              <Button key={example.name} label={example.name} onClick={() => (text.value = example.text)} />
            ))}
            <Button label="Clear" onClick={() => (text.value = '')} />
          </span>
        </div>
        <textarea
          class="mono"
          aria-labelledby="playground-log"
          spellcheck={false}
          autocomplete="off"
          placeholder="Paste what an agent printed, for example the output of codex exec --json."
          value={isTooLong ? '' : text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
        <p class={isTooLong ? 'help wrong' : 'help'} role="status">
          {isTooLong
            ? `The log has ${formatCount(text.value.length)} characters; the playground reads ${formatCount(MAX_LENGTH)}. Use sluice translate on the command line.`
            : 'The log is read in this page. Nothing is sent to a server.'}
        </p>
      </section>
      {log === null ? null : (
        <div class="log-panes" key={`${engine} ${text.value}`}>
          {PANES.map(({ title, view: View }) => (
            <div key={title} class="stack log-pane">
              <h2>{title}</h2>
              <div class="run-pane">
                <View run={log.run} isLive={false} />
              </div>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function Summary({ log: { engine, coverage } }: Readonly<{ log: OpenLog }>) {
  const { bytes, claimed } = coverage.stdout;
  return (
    <span class="row" role="status">
      <Badge tone="good">{engine}</Badge>
      <span class="dim">
        {formatCount(claimed)} of {formatCount(bytes)} bytes are in an event
      </span>
    </span>
  );
}

function readEngine(name: string | null): string {
  return ENGINE_NAMES.find((known) => known === name) ?? 'auto';
}
