import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { SafeText } from '../../ui/safe-text.js';

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

/** A text that may have been cut. */
interface WrittenValue {
  readonly text: string;
  readonly isCut: boolean;
}

const DEEPEST = 100;

/**
 * A value as indented JSON, no longer than `limit`: a tool may put out megabytes, of which a row shows the beginning. A string
 * is written as it is.
 *
 * @example
 * writeValue({ a: [1] }, 100).text // '{\n  "a": [\n    1\n  ]\n}'
 */
export function writeValue(value: unknown, limit: number): WrittenValue {
  if (typeof value === 'string') return { text: value.slice(0, limit), isCut: value.length > limit };
  const parts: string[] = [];
  let room = limit;
  let isCut = false;
  function add(text: string): void {
    if (text.length > room) isCut = true;
    parts.push(isCut ? text.slice(0, room) : text);
    room -= Math.min(room, text.length);
  }
  function write(one: unknown, indent: string): void {
    if (isCut) return;
    if (typeof one === 'string') return add(JSON.stringify(one.length > limit ? one.slice(0, limit) : one));
    if (typeof one !== 'object' || one === null) return add(JSON.stringify(one) ?? 'null');
    const isList = Array.isArray(one);
    const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
    const inner = `${indent}  `;
    let isFirst = true;
    if (inner.length > DEEPEST * 2) return add('…');
    add(begin);
    for (const [key, child] of listEntries(one)) {
      if (isCut) return;
      add(isFirst ? `\n${inner}` : `,\n${inner}`);
      if (!isList) add(`${JSON.stringify(key)}: `);
      write(child, inner);
      isFirst = false;
    }
    add(isFirst ? end : `\n${indent}${end}`);
  }
  write(value, '');
  return { text: parts.join(''), isCut };
}

function* listEntries(value: object): Generator<readonly [string | number, unknown], void> {
  if (Array.isArray(value)) yield* value.entries();
  else for (const key of Object.keys(value)) yield [key, Reflect.get(value, key)];
}
