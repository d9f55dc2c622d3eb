import { effect, signal } from '@preact/signals';

/** The theme of the page: that of the system, or one that the person has chosen. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'sluice.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The theme in use; a change is remembered. */
export const theme = signal<Theme>(readTheme());

/** Returns the next theme, for a button that cycles through them. */
export function nextTheme(current: Theme): Theme {
  return THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system';
}

/** Applies every change of {@link theme} to the page, and stores it. */
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
