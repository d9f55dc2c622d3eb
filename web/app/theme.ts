import { effect, signal } from '@preact/signals';

/** The theme of the page: the system's, or the person's choice. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'sluice.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The theme in use; setting it is remembered. */
export const theme = signal<Theme>(readTheme());

/** The next theme, for a button that cycles through them. */
export function nextTheme(current: Theme): Theme {
  return THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system';
}

/** Keeps the page and what is remembered in step with {@link theme}. */
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
    const kept = localStorage.getItem(KEY);
    return THEMES.find((name) => name === kept) ?? 'system';
  } catch {
    return 'system';
  }
}
