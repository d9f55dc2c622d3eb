import { signal } from '@preact/signals';
import { navigate } from './router.js';

/** The open overlay; null for none. */
export const overlay = signal<'palette' | 'keys' | null>(null);

/** `g` and a letter goes to a page, as in other tools people use all day. */
const PLACES: Readonly<Record<string, string>> = {
  r: '/runs',
  i: '/inbox',
  s: '/issues',
  o: '/outbox',
  e: '/executions',
  w: '/workbench',
  k: '/workers',
  c: '/charts',
};

/** Time to press the letter after `g`. */
const SEQUENCE_TIMEOUT_MS = 1500;

/** Listens to keys that work on every page: `g r` and the like, `/` for the search, `?` for the keys, `Ctrl K` for commands. */
export function listenToKeys(): () => void {
  let began = -Infinity;
  const listen = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      overlay.value = overlay.value === 'palette' ? null : 'palette';
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === '?') {
      event.preventDefault();
      overlay.value = 'keys';
      return;
    }
    const place = PLACES[event.key];
    if (event.timeStamp - began < SEQUENCE_TIMEOUT_MS && place !== undefined) {
      event.preventDefault();
      navigate(place);
    }
    began = event.key === 'g' ? event.timeStamp : -Infinity;
    if (event.key !== '/') return;
    const search = document.querySelector<HTMLInputElement>('input[type=search]');
    if (search === null) return;
    event.preventDefault();
    search.focus();
  };
  addEventListener('keydown', listen);
  return () => removeEventListener('keydown', listen);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
