import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { SafeText } from '../../ui/safe-text.js';

/** Shows the start of an agent's value as JSON, or of a string unchanged, with a button for more. */
export function ValueText({ value, limit = 1000 }: { readonly value: unknown; readonly limit?: number }) {
  const visibleLength = useSignal(limit);
  const { text, isShortened } = useMemo(() => formatValue(value, visibleLength.value), [value, visibleLength.value]);
  return (
    <pre class="value">
      <SafeText text={text} limit={visibleLength.value} />
      {isShortened ? (
        <button type="button" class="link" onClick={() => (visibleLength.value *= 8)}>
          … More
        </button>
      ) : null}
    </pre>
  );
}

/** A possibly truncated string. */
interface FormattedValue {
  readonly text: string;
  readonly isShortened: boolean;
}

const MAX_DEPTH = 100;

/**
 * Formats a value as indented JSON of at most `limit` characters, because a tool can print megabytes. For a string,
 * returns the first `limit` characters.
 *
 * @example
 * formatValue({ a: [1] }, 100).text // '{\n  "a": [\n    1\n  ]\n}'
 */
export function formatValue(value: unknown, limit: number): FormattedValue {
  if (typeof value === 'string') return { text: value.slice(0, limit), isShortened: value.length > limit };
  const parts: string[] = [];
  let room = limit;
  let isShortened = false;
  function add(text: string): void {
    if (text.length > room) isShortened = true;
    parts.push(isShortened ? text.slice(0, room) : text);
    room -= Math.min(room, text.length);
  }
  function write(part: unknown, indent: string): void {
    if (isShortened) return;
    if (typeof part === 'string') return add(JSON.stringify(part.length > limit ? part.slice(0, limit) : part));
    if (typeof part !== 'object' || part === null) return add(JSON.stringify(part) ?? 'null');
    const isList = Array.isArray(part);
    const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
    const inner = `${indent}  `;
    let isFirst = true;
    if (inner.length > MAX_DEPTH * 2) return add('…');
    add(begin);
    for (const [key, child] of listEntries(part)) {
      if (isShortened) return;
      add(isFirst ? `\n${inner}` : `,\n${inner}`);
      if (!isList) add(`${JSON.stringify(key)}: `);
      write(child, inner);
      isFirst = false;
    }
    add(isFirst ? end : `\n${indent}${end}`);
  }
  write(value, '');
  return { text: parts.join(''), isShortened };
}

function* listEntries(value: object): Generator<readonly [string | number, unknown], void> {
  if (Array.isArray(value)) yield* value.entries();
  else for (const key of Object.keys(value)) yield [key, Reflect.get(value, key)];
}
