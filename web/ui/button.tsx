import { useSignal } from '@preact/signals';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes } from 'preact';
import { t } from '../app/texts.js';

/** A button that acts on this page; it does not submit a form. */
export function Button({ label, ...attributes }: ButtonHTMLAttributes & { readonly label: string | number }) {
  return (
    <button type="button" {...attributes}>
      {label}
    </button>
  );
}

export function Link({ label, ...attributes }: AnchorHTMLAttributes & { readonly label: string }) {
  return <a {...attributes}>{label}</a>;
}

/** A sentence of a catalogue with `code` and [links](/path), marked as in Markdown. It must not contain foreign text. */
export function Sentence({ text }: Readonly<{ text: string }>) {
  return (
    <>
      {text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part, index) => {
        const [, label, href] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
        if (label !== undefined) return <Link key={index} label={label} href={href} />;
        return part.startsWith('`') ? <code key={index}>{part.slice(1, -1)}</code> : part;
      })}
    </>
  );
}

const SHOW_MS = 1500;

export function CopyButton({ label, read }: Readonly<{ label: string; read: () => string | Promise<string> }>) {
  const outcome = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await read());
      outcome.value = t.copied;
    } catch {
      outcome.value = t.copyFailed;
    }
    setTimeout(() => (outcome.value = null), SHOW_MS);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{outcome.value ?? label}</span>
    </button>
  );
}
