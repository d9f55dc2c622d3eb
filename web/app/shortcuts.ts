import { signal } from '@preact/signals';
import { PAGE_NAMES, PAGES } from './route.js';
import { navigate } from './router.js';

export const overlay = signal<'palette' | 'keys' | null>(null);

const SEQUENCE_TIMEOUT_MS = 1500;

/** Handles the keys that work on every page; `KEYS` lists them. */
export function listenToKeys(): () => void {
  let sequenceStartedAt = -Infinity;
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
    const page = PAGE_NAMES.find((name) => PAGES[name].key === event.key);
    if (event.timeStamp - sequenceStartedAt < SEQUENCE_TIMEOUT_MS && page !== undefined) {
      event.preventDefault();
      navigate(`/${page}`);
    }
    sequenceStartedAt = event.key === 'g' ? event.timeStamp : -Infinity;
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
