import { effect, signal } from '@preact/signals';

/** The page theme: the system's, or the one the user has chosen. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'sluice.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The current theme; changes are persisted. */
export const theme = signal<Theme>(readTheme());

/** Returns the next theme, for the button that cycles through them. */
export function nextTheme(current: Theme): Theme {
  return THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system';
}

/** Applies every change of {@link theme} to the page and stores it. */
export function applyTheme(): () => void {
  return effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // A browser may forbid storage; then the choice lasts until the page is closed.
    }
  });
}

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((name) => name === stored) ?? 'system';
  } catch {
    return 'system';
  }
}
