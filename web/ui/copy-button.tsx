import { useSignal } from '@preact/signals';

/** How long the button says that it has done its work. */
const SAY_MS = 1500;

/** Copies what `read` gives when it is pressed. */
export function CopyButton({ label, read }: { readonly label: string; readonly read: () => string | Promise<string> }) {
  const said = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await read());
      said.value = 'Copied';
    } catch {
      said.value = 'Copy failed';
    }
    setTimeout(() => (said.value = null), SAY_MS);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said.value ?? label}</span>
    </button>
  );
}
