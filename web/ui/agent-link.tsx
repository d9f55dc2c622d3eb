import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.js';

/**
 * A link in an agent's message, with its label and its address as plain text. It opens only after a confirmation that
 * shows the real target.
 */
export function AgentLink({ address, children }: { readonly address: string; readonly children?: ComponentChildren }) {
  const isConfirming = useSignal(false);
  const target = resolveWebAddress(address);
  const hasText = Array.isArray(children) && children.length > 0;
  return (
    <span class="agent-link">
      {children}
      {hasText ? ' ' : null}
      <span class="agent-address">
        <SafeText text={address} limit={300} />
      </span>{' '}
      {target === null ? null : isConfirming.value ? (
        <span class="agent-question" role="group" aria-label="Open the link">
          Open <SafeText text={target} limit={300} />?{' '}
          <button type="button" onClick={() => openTarget(target, () => (isConfirming.value = false))}>
            Open in a new tab
          </button>{' '}
          <button type="button" onClick={() => (isConfirming.value = false)}>
            Cancel
          </button>
        </span>
      ) : (
        <button
          type="button"
          class="link"
          aria-label={`Open ${target.slice(0, 100)}`}
          onClick={() => (isConfirming.value = true)}
        >
          Open
        </button>
      )}
    </span>
  );
}

function openTarget(target: string, done: () => void): void {
  window.open(target, '_blank', 'noopener,noreferrer');
  done();
}

/**
 * Resolves an address as the browser would, which exposes look-alike host names; null if it is not a web address.
 *
 * @example
 * resolveWebAddress('https://еxample.com') // 'https://xn--xample-2of.com/'
 * resolveWebAddress('javascript:alert(1)') // null
 */
export function resolveWebAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
