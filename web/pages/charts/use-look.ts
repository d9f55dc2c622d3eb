import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { theme } from '../../app/theme.js';

/** A word that changes whenever the colours of the page do: by the person's choice, or by the system's. */
export function useLook(): string {
  const system = useSignal('');
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const note = (): void => {
      system.value = dark.matches ? 'dark' : 'light';
    };
    note();
    dark.addEventListener('change', note);
    return () => dark.removeEventListener('change', note);
  }, []);
  return `${theme.value} ${system.value}`;
}
