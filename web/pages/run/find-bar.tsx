import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../../ui/amount.js';
import { capitalize } from '../../ui/badge.js';
import { findNextError, ITEM_KINDS } from './item-filter.js';
import type { ItemKind } from './item-filter.js';
import type { OpenRun } from './open-run.js';

/** How long after the last key press a search starts. */
const DEBOUNCE_MS = 200;

/** Filters a run by kind, errors and text, and moves from error to error. */
export function FindBar({ run }: { readonly run: OpenRun }) {
  void run.redraws.page.value;
  const { filter } = run;
  const { kind, errorsOnly } = filter.query.value;
  const { conversation } = run.data;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const goToError = (step: 1 | -1): void => {
    const errorItem = findNextError(conversation, run.highlight.peek()?.item ?? null, step);
    const event = conversation.events[conversation.items[errorItem ?? -1]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  useErrorKeys(goToError);
  const count = filter.shown(conversation.items.length).count;
  return (
    <form class="find-bar" role="search" aria-label="Find in run" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Find in run"
        placeholder="Find in run"
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => filter.set({ text: currentTarget.value.trim() }), DEBOUNCE_MS);
        }}
      />
      <label>
        <span class="visually-hidden">Kind</span>
        <select
          value={kind ?? ''}
          onChange={({ currentTarget }) =>
            filter.set({ kind: ITEM_KINDS.find((name): name is ItemKind => name === currentTarget.value) ?? null })
          }
        >
          <option value="">All kinds</option>
          {ITEM_KINDS.map((name) => (
            <option key={name} value={name}>
              {capitalize(name)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" aria-pressed={errorsOnly} onClick={() => filter.set({ errorsOnly: !errorsOnly })}>
        Errors only
      </button>
      <button type="button" aria-keyshortcuts="n" onClick={() => goToError(1)}>
        Next error
      </button>
      <output class="dim find-count">
        {filter.isOn.value ? `${formatCount(count)} found${filter.isDone.value ? '' : ' …'}` : ''}
      </output>
    </form>
  );
}

/** Goes to the next error when `n` is pressed, and to the previous one for `N`. */
function useErrorKeys(go: (step: 1 | -1) => void): void {
  const current = useRef(go);
  current.current = go;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== 'n') return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null) return;
      event.preventDefault();
      current.current(event.key === 'n' ? 1 : -1);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
