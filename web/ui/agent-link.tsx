import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.js';

/**
 * A link in an agent's text: its text and its address, both as text. It opens only after a confirmation that shows where it
 * really goes.
 */
export function AgentLink({ address, children }: { readonly address: string; readonly children?: ComponentChildren }) {
  const isAsked = useSignal(false);
  const target = webAddress(address);
  const hasText = Array.isArray(children) && children.length > 0;
  return (
    <span class="agent-link">
      {children}
      {hasText ? ' ' : null}
      <span class="agent-address">
        <SafeText text={address} limit={300} />
      </span>{' '}
      {target === null ? null : isAsked.value ? (
        <span class="agent-question" role="group" aria-label="Open the link">
          Open <SafeText text={target} limit={300} />?{' '}
          <button type="button" onClick={() => leave(target, () => (isAsked.value = false))}>
            Open in a new tab
          </button>{' '}
          <button type="button" onClick={() => (isAsked.value = false)}>
            No
          </button>
        </span>
      ) : (
        <button
          type="button"
          class="link"
          aria-label={`open ${target.slice(0, 100)}`}
          onClick={() => (isAsked.value = true)}
        >
          open
        </button>
      )}
    </span>
  );
}

function leave(target: string, done: () => void): void {
  window.open(target, '_blank', 'noopener,noreferrer');
  done();
}

/**
 * Where an address really leads, as the browser reads it, so that a host that looks like another one shows its true letters;
 * null for everything that is not a web page.
 *
 * @example
 * webAddress('https://еxample.com') // 'https://xn--xample-2of.com/'
 * webAddress('javascript:alert(1)') // null
 */
export function webAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
