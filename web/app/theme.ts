import { effect, signal } from '@preact/signals';
import { readStored, writeStored } from './storage.js';

type Theme = 'system' | 'light' | 'dark';
const KEY = 'sluice.theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(THEMES.find((name) => name === readStored(KEY)) ?? 'system');

export function nextTheme(current: Theme): Theme {
  return THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system';
}

/** Applies every change of {@link theme} to the page and stores it. */
export function applyTheme(): () => void {
  return effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    writeStored(KEY, theme.value);
  });
}
