import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SafeText } from '../ui/text.js';
import { navigate, route } from './router.js';
import { canSignOut, hasScope, signOut } from './session.js';
import { overlay } from './shortcuts.js';
import { nextTheme, theme } from './theme.js';
import { PAGE_NAMES, PAGES } from './route.js';
import { switchLanguage } from './language.js';
import './overlays.css';
import { delayedActions, dropAction, sendNow, type DelayedAction } from '../data/delayed-actions.js';
import { getEntryPath } from '../data/waiting.js';
import { Button } from '../ui/parts.js';
import { t } from './texts.js';

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
    <Modal label={t.commandPalette}>
      <input
        type="text"
        role="combobox"
        aria-label={t.command}
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${selected}`}
        placeholder={t.goToAPageA}
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
      <ul id="commands" class="list" role="listbox" aria-label={t.commands}>
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
  if (action.run === 'language') switchLanguage();
  if (action.run === 'keys') overlay.value = 'keys';
  if (action.run === 'sign-out') void signOut();
}

function KeyList() {
  return (
    <Modal label={t.keyboardShortcuts}>
      <div class="overlay-head">
        <h2>{t.keyboardShortcuts}</h2>
        <form method="dialog" class="end">
          <button type="submit">{t.close}</button>
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

export interface Command {
  readonly label: string;
  readonly action: { readonly path: string } | { readonly run: 'theme' | 'language' | 'keys' | 'sign-out' };
  readonly keys?: string;
}

type CommandContext = Readonly<{ canRun: boolean; canSignOut: boolean }>;

const PAGE_COMMANDS: readonly Command[] = PAGE_NAMES.map((name) => ({
  label: t.pages[name],
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
  const search = { label: t.searchRunsFor(input), action: { path: `/runs?search=${encodeURIComponent(input)}` } };
  return [...findNamedPage(input), ...matches, ...(input === '' ? [] : [search])];
}

function listCommands({ canRun, canSignOut: isSignedIn }: CommandContext): readonly Command[] {
  return [
    ...PAGE_COMMANDS,
    ...(canRun
      ? [
          { label: t.startARun, action: { path: '/runs?start' } },
          { label: t.submitAnOrder, action: { path: '/issues?order' } },
        ]
      : []),
    { label: t.failedRuns, action: { path: '/runs?outcome=failed' } },
    { label: t.runsInProgress, action: { path: '/runs?state=running' } },
    { label: t.runsWaitingForAnAnswer, action: { path: '/runs?state=waiting' } },
    { label: t.issuesThatNeedADecision, action: { path: '/issues?state=needs-human' } },
    { label: t.failedComments, action: { path: '/outbox?state=dead' } },
    { label: t.changeTheme, action: { run: 'theme' } },
    { label: t.otherLanguage, action: { run: 'language' } },
    { label: t.keyboardShortcuts, action: { run: 'keys' }, keys: '?' },
    ...(isSignedIn ? [{ label: t.signOut, action: { run: 'sign-out' as const } }] : []),
  ];
}

function findNamedPage(input: string): readonly Command[] {
  if (RUN_ID.test(input)) {
    return [{ label: t.openRun(input.toUpperCase()), action: { path: `/runs/${input.toUpperCase()}` } }];
  }
  if (!ISSUE_REF.test(input)) return [];
  return [{ label: t.openIssue(input), action: { path: `/issues/${encodeURIComponent(input)}` } }];
}

/** All keyboard shortcuts in the console, grouped by where they work. */
export const KEYS: readonly {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, effect: string])[];
}[] = [
  {
    title: t.everywhere,
    keys: [
      ['Ctrl+K', t.openTheCommandPalette],
      ['?', t.showKeyboardShortcuts],
      ['/', t.goToTheSearchField],
      ['Ctrl+Enter', t.sendTheForm],
      ...PAGE_COMMANDS.map(({ keys = '', label }) => [keys, t.goTo(label)] as const),
    ],
  },
  {
    title: t.lists,
    keys: [
      ['j k', t.nextAndPreviousRow],
      ['Enter', t.openTheRow],
    ],
  },
  {
    title: t.pages.inbox,
    keys: [
      ['x', t.selectTheItemForA],
      ['a e t r', t.acceptEditAndAcceptRetry],
    ],
  },
  {
    title: t.runPage,
    keys: [
      ['↓ ↑', t.nextAndPreviousRowIn],
      ['Home End', t.firstAndLastRow],
      ['n N', t.nextAndPreviousError],
      ['Esc', t.clearTheSelection],
    ],
  },
];

/** The pending actions, shown at the edge of every page. Each can be withdrawn until it is sent. */
export function PendingActions() {
  const actions = delayedActions.value;
  const now = useSignal(Date.now());
  useEffect(() => {
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), 500);
    return () => clearInterval(timer);
  }, [actions.length]);
  return (
    <div class="pending-actions" role="region" aria-label={t.pendingActions}>
      {actions.map((action) => (
        <PendingAction key={action.id} action={action} now={now.value} />
      ))}
    </div>
  );
}

function PendingAction({ action, now }: Readonly<{ action: DelayedAction; now: number }>) {
  const { id, title, state, dueAt, failures } = action;
  const entry = action.parts.length === 1 ? action.parts[0]?.entry : undefined;
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
        <strong>{t.titleNotSent(title, failures.length)}</strong>
        <SafeText
          as="span"
          class="clip"
          text={[...new Set(failures.map(({ message }) => message))].join(' ')}
          limit={400}
        />
        <Button label={t.dismiss} onClick={() => dropAction(id)} />
      </div>
    );
  }
  const seconds = Math.max(0, Math.ceil((dueAt - now) / 1000));
  return (
    <div class="pending-action">
      <strong role="status">
        <SafeText text={title.slice(0, 120)} />
      </strong>
      <span class="dim">{t.sentIn(seconds)}</span>
      <Button
        label={t.withdraw}
        class="primary"
        onClick={() => {
          dropAction(id);
          // Back to its form, which still has the draft.
          if (entry !== undefined && route.value.page === 'inbox') navigate(getEntryPath(entry));
        }}
      />
      <Button label={t.sendNow} onClick={() => sendNow(id)} />
    </div>
  );
}
