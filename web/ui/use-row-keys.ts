import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** The attributes of a row's focusable link or button: `<a {...ROW} href="…">`. */
export const ROW = { 'data-row': '' } as const;

/** Returns the row that a key moves to; null for keys that do not move. `from` is -1 if the focus is outside the rows. */
export function nextRow(key: string, from: number, count: number): number | null {
  if (count === 0) return null;
  switch (key) {
    case 'j':
      return Math.min(from + 1, count - 1);
    case 'k':
      return Math.max(from - 1, 0);
    case 'ArrowDown':
      return from === -1 ? null : Math.min(from + 1, count - 1);
    case 'ArrowUp':
      return from === -1 ? null : Math.max(from - 1, 0);
    case 'Home':
      return from === -1 ? null : 0;
    case 'End':
      return from === -1 ? null : count - 1;
    default:
      return null;
  }
}

/** Moves the focus between the rows of a list with `j` and `k`, and with the arrow keys once the focus is in the list. */
export function useRowKeys(list: RefObject<HTMLElement>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const { target } = event;
      if (list.current === null || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest('input, textarea, select, dialog') !== null) return;
      const rows = [...list.current.querySelectorAll<HTMLElement>('[data-row]')];
      const from = rows.findIndex((row) => row === document.activeElement);
      const to = nextRow(event.key, from, rows.length);
      if (to === null) return;
      event.preventDefault();
      rows[to]?.focus();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/**
 * Whether the user seems to be reading the rows, because they are scrolled, focused or hovered. Rows must then not
 * move.
 */
export function isReading(list: HTMLElement | null): boolean {
  return scrollY > 40 || (list !== null && (list.contains(document.activeElement) || list.matches(':hover')));
}
