import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SafeText } from '../ui/safe-text.js';
import { navigate } from './router.js';
import { canSignOut, hasScope, signOut } from './session.js';
import { overlay } from './shortcuts.js';
import { nextTheme, theme } from './theme.js';
import { PAGE_NAMES, PAGES } from './route.js';
import './overlays.css';
import { delayedActions, dropAction, sendNow, type DelayedAction } from '../data/delayed-actions.js';
import { Button } from '../ui/button.js';

/** The open overlay: the command palette or the list of keyboard shortcuts. */
export function Overlays() {
  return overlay.value === 'palette' ? <Palette /> : <KeyList />;
}

function Modal({ label, children }: Readonly<{ label: string; children: ComponentChildren }>) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="overlay"
      aria-label={label}
      onClose={() => (overlay.value = null)}
      onClick={(event) => {
        // Clicks outside the content hit the dialog element itself.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      {children}
    </dialog>
  );
}

function Palette() {
  const text = useSignal('');
  const selectedIndex = useSignal(0);
  const commands = findCommands(text.value, { canRun: hasScope('run'), canSignOut: canSignOut() });
  const selected = Math.min(selectedIndex.value, commands.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      selectedIndex.value = (selected + step + commands.length) % commands.length;
      document.querySelector(`#command-${selectedIndex.value}`)?.scrollIntoView({ block: 'nearest' });
    }
    const command = commands[selected];
    if (event.key !== 'Enter' || command === undefined) return;
    event.preventDefault();
    run(command);
  };
  return (
    <Modal label="Command palette">
      <input
        type="text"
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${selected}`}
        placeholder="Go to a page, a run or an issue, or search"
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          selectedIndex.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          // As usual for a combobox, the text field handles key presses.
          <li
            key={command.label}
            id={`command-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => run(command)}
          >
            <SafeText text={command.label} limit={250} />
            {command.keys === undefined ? null : <KeyCombination keys={command.keys} />}
          </li>
        ))}
      </ul>
    </Modal>
  );
}

function run({ action }: Command): void {
  overlay.value = null;
  if ('path' in action) return navigate(action.path);
  if (action.run === 'theme') theme.value = nextTheme(theme.value);
  if (action.run === 'keys') overlay.value = 'keys';
  if (action.run === 'sign-out') void signOut();
}

function KeyList() {
  return (
    <Modal label="Keyboard shortcuts">
      <div class="overlay-head">
        <h2>Keyboard shortcuts</h2>
        <form method="dialog" class="end">
          <button type="submit">Close</button>
        </form>
      </div>
      <div class="key-lists">
        {KEYS.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([combination, effect]) => (
                <div key={effect}>
                  <dt>
                    <KeyCombination keys={combination} />
                  </dt>
                  <dd>{effect}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}

function KeyCombination({ keys }: Readonly<{ keys: string }>) {
  return (
    <span class="keys">
      {keys.split(' ').map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

/** A command in the palette. */
export interface Command {
  readonly label: string;
  readonly action: { readonly path: string } | { readonly run: 'theme' | 'keys' | 'sign-out' };
  readonly keys?: string;
}

type CommandContext = Readonly<{ canRun: boolean; canSignOut: boolean }>;

const PAGE_COMMANDS: readonly Command[] = PAGE_NAMES.map((name) => ({
  label: PAGES[name].label,
  action: { path: `/${name}` },
  keys: `g ${PAGES[name].key}`,
}));

const RUN_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const ISSUE_REF = /^\S+#\S+$/;

/** Finds the commands for the input: the run or issue it names, those whose labels have all words, and a search. */
export function findCommands(text: string, context: CommandContext): readonly Command[] {
  const input = text.trim();
  const words = input.toLowerCase().split(/\s+/);
  const matches = listCommands(context).filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)),
  );
  return [...findNamedPage(input), ...matches, ...(input === '' ? [] : [createSearch(input)])];
}

function listCommands({ canRun, canSignOut: isSignedIn }: CommandContext): readonly Command[] {
  return [
    ...PAGE_COMMANDS,
    ...(canRun
      ? [
          { label: 'Start a run', action: { path: '/runs?start' } },
          { label: 'Submit an order', action: { path: '/issues?order' } },
        ]
      : []),
    { label: 'Failed runs', action: { path: '/runs?outcome=failed' } },
    { label: 'Runs in progress', action: { path: '/runs?state=running' } },
    { label: 'Runs waiting for an answer', action: { path: '/runs?state=waiting' } },
    { label: 'Issues that need a decision', action: { path: '/issues?state=needs-human' } },
    { label: 'Failed comments', action: { path: '/outbox?state=dead' } },
    { label: 'Change theme', action: { run: 'theme' } },
    { label: 'Keyboard shortcuts', action: { run: 'keys' }, keys: '?' },
    ...(isSignedIn ? [{ label: 'Sign out', action: { run: 'sign-out' as const } }] : []),
  ];
}

function findNamedPage(input: string): readonly Command[] {
  if (RUN_ID.test(input)) {
    return [{ label: `Open run ${input.toUpperCase()}`, action: { path: `/runs/${input.toUpperCase()}` } }];
  }
  if (!ISSUE_REF.test(input)) return [];
  return [{ label: `Open issue ${input}`, action: { path: `/issues/${encodeURIComponent(input)}` } }];
}

function createSearch(input: string): Command {
  return { label: `Search runs for “${input}”`, action: { path: `/runs?search=${encodeURIComponent(input)}` } };
}

/** All keyboard shortcuts in the console, grouped by where they work. */
export const KEYS: readonly {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, effect: string])[];
}[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl+K', 'Open the command palette'],
      ['?', 'Show keyboard shortcuts'],
      ['/', 'Go to the search field'],
      ...PAGE_COMMANDS.map(({ keys = '', label }) => [keys, `Go to ${label}`] as const),
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['j k', 'Next and previous row'],
      ['Enter', 'Open the row'],
    ],
  },
  {
    title: 'Inbox',
    keys: [
      ['x', 'Select the item for a bulk action'],
      ['a e t r', 'Accept, edit and accept, retry, reject'],
    ],
  },
  {
    title: 'Run page',
    keys: [
      ['↓ ↑', 'Next and previous row in a pane'],
      ['Home End', 'First and last row'],
      ['n N', 'Next and previous error'],
      ['Esc', 'Clear the selection'],
      ['Ctrl+Enter', 'Send the answer'],
    ],
  },
];

/** The pending actions, shown at the edge of every page. Each can be undone until it is sent. */
export function PendingActions() {
  const actions = delayedActions.value;
  const now = useSignal(performance.now());
  useEffect(() => {
    if (actions.length === 0) return;
    const timer = setInterval(() => (now.value = performance.now()), 500);
    return () => clearInterval(timer);
  }, [actions.length === 0]);
  if (actions.length === 0) return null;
  return (
    <div class="pending-actions" role="region" aria-label="Pending actions">
      {actions.map((action) => (
        <PendingAction key={action.id} action={action} now={now.value} />
      ))}
    </div>
  );
}

function PendingAction({ action, now }: Readonly<{ action: DelayedAction; now: number }>) {
  const { id, title, state, dueAt, failures } = action;
  if (state === 'sending') {
    return (
      <div class="pending-action" role="status">
        <strong>{title} …</strong>
      </div>
    );
  }
  if (state === 'failed') {
    return (
      <div class="pending-action bad" role="alert">
        <strong>
          {title}: {failures.length} failed
        </strong>
        <SafeText as="span" class="clip" text={[...new Set(failures)].join(' ')} limit={400} />
        <Button label="Dismiss" onClick={() => dropAction(id)} />
      </div>
    );
  }
  const seconds = Math.max(0, Math.ceil((dueAt - now) / 1000));
  return (
    <div class="pending-action">
      <strong role="status">{title}</strong>
      <span class="dim">In {seconds} s</span>
      <Button label="Undo" class="primary" onClick={() => dropAction(id)} />
      <Button label="Send now" onClick={() => sendNow(id)} />
    </div>
  );
}
