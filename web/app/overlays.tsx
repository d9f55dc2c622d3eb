import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SafeText } from '../ui/safe-text.js';
import { findCommands, KEYS } from './commands.js';
import type { Command } from './commands.js';
import { navigate } from './router.js';
import { canSignOut, hasScope, signOut } from './session.js';
import { overlay } from './shortcuts.js';
import { nextTheme, theme } from './theme.js';
import './overlays.css';

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
  switch (action.run) {
    case 'theme':
      theme.value = nextTheme(theme.value);
      return;
    case 'keys':
      overlay.value = 'keys';
      return;
    case 'sign-out':
      void signOut();
  }
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
