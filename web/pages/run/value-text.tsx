import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { SafeText } from '../../ui/safe-text.js';
import { writeValue } from './write-value.js';

/** A value of an agent as JSON, a string as it is; the beginning of it, and more when asked for. */
export function ValueText({ value, limit = 1000 }: { readonly value: unknown; readonly limit?: number }) {
  const most = useSignal(limit);
  const { text, isCut } = useMemo(() => writeValue(value, most.value), [value, most.value]);
  return (
    <pre class="value">
      <SafeText text={text} limit={most.value} />
      {isCut ? (
        <button type="button" class="link" onClick={() => (most.value *= 8)}>
          … more
        </button>
      ) : null}
    </pre>
  );
}
