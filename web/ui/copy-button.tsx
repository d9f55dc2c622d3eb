import { useSignal } from '@preact/signals';

/** How long the button shows the outcome. */
const SHOW_MS = 1500;

/** Copies the text that `read` returns. */
export function CopyButton({ label, read }: { readonly label: string; readonly read: () => string | Promise<string> }) {
  const outcome = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await read());
      outcome.value = 'Copied';
    } catch {
      outcome.value = 'Copy failed';
    }
    setTimeout(() => (outcome.value = null), SHOW_MS);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{outcome.value ?? label}</span>
    </button>
  );
}
