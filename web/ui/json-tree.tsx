import { useSignal } from '@preact/signals';
import { formatCount } from './format.js';
import { SafeText } from './safe-text.js';
import { useMemo } from 'preact/hooks';
import { Button } from './button.js';
import './json-tree.css';
import { t } from '../app/texts.js';

const MAX_MEMBERS = 100;
/** The maximum depth; deeper values are shown as an ellipsis. */
const MAX_DEPTH = 200;
const MAX_STRING_LENGTH = 400;

/** A value as a collapsible tree with `open` open levels. Only open branches are drawn, so megabytes cost nothing. */
export function JsonTree({ value, open = 2 }: Readonly<{ value: unknown; open?: number }>) {
  return (
    <div class="json-tree">
      <Node name={null} value={value} open={open} depth={0} isLast />
    </div>
  );
}

interface NodeProps<Value = unknown> {
  readonly name: string | null;
  readonly value: Value;
  readonly open: number;
  readonly depth: number;
  readonly isLast: boolean;
}

function Node({ value, ...props }: NodeProps) {
  if (typeof value === 'object' && value !== null) return <Branch value={value} {...props} />;
  return (
    <div class="json-line">
      <Name name={props.name} />
      <Leaf value={value} />
      {props.isLast ? '' : ','}
    </div>
  );
}

function Name({ name }: Readonly<{ name: string | null }>) {
  if (name === null) return null;
  return (
    <>
      <SafeText as="span" class="json-name" text={JSON.stringify(name)} limit={MAX_STRING_LENGTH} />
      {': '}
    </>
  );
}

function Leaf({ value }: Readonly<{ value: unknown }>) {
  if (typeof value === 'string') {
    return (
      <span class="json-text">
        "<SafeText text={escapeText(value)} limit={MAX_STRING_LENGTH} />"
      </span>
    );
  }
  return <span class="json-word">{JSON.stringify(value) ?? 'null'}</span>;
}

/** Escapes ambiguous characters; all others are shown unchanged. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}

function Branch({ name, value, open, depth, isLast }: NodeProps<object>) {
  const isList = Array.isArray(value);
  const count = isList ? value.length : Object.keys(value).length;
  const isOpen = useSignal(open > 0 && count > 0);
  const visibleCount = useSignal(MAX_MEMBERS);
  const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
  const tail = isLast ? '' : ',';
  if (count === 0 || depth >= MAX_DEPTH) {
    return (
      <div class="json-line">
        <Name name={name} />
        {begin}
        {count === 0 ? '' : '…'}
        {end}
        {tail}
      </div>
    );
  }
  const size = (isList ? t.countItems : t.countMembers)(count, formatCount(count));
  return (
    <div class="json-branch">
      <div class="json-line">
        <button
          type="button"
          class="json-toggle"
          aria-expanded={isOpen.value}
          aria-label={`${name ?? t.value}, ${size}`}
          onClick={() => (isOpen.value = !isOpen.value)}
        />
        <Name name={name} />
        {begin}
        {isOpen.value ? null : (
          <>
            <span class="dim"> {size} </span>
            {end}
            {tail}
          </>
        )}
      </div>
      {isOpen.value ? (
        <>
          <div class="json-inner">
            {listMembers(value, visibleCount.value).map(([key, inner], index) => (
              <Node
                key={key}
                name={isList ? null : key}
                value={inner}
                open={open - 1}
                depth={depth + 1}
                isLast={index === count - 1}
              />
            ))}
            {count > visibleCount.value ? (
              <button type="button" class="link" onClick={() => (visibleCount.value *= 4)}>
                {t.andMore(formatCount(count - visibleCount.value))}
              </button>
            ) : null}
          </div>
          <div class="json-line">
            {end}
            {tail}
          </div>
        </>
      ) : null}
    </div>
  );
}

function listMembers(value: object, visibleCount: number): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value))
    return value.slice(0, visibleCount).map((inner: unknown, index) => [String(index), inner] as const);
  return Object.keys(value)
    .slice(0, visibleCount)
    .map((key) => [key, Reflect.get(value, key)] as const);
}

/** Shows the start of an agent's value as JSON, or of a string unchanged, with a button for more. */
export function ValueText({ value, limit = 1000 }: Readonly<{ value: unknown; limit?: number }>) {
  const visibleLength = useSignal(limit);
  const { text, isShortened } = useMemo(() => formatValue(value, visibleLength.value), [value, visibleLength.value]);
  return (
    <pre class="value">
      <SafeText text={text} limit={visibleLength.value} />
      {isShortened ? <Button label={t.moreOfValue} class="link" onClick={() => (visibleLength.value *= 8)} /> : null}
    </pre>
  );
}

type FormattedValue = Readonly<{ text: string; isShortened: boolean }>;
const MAX_FORMAT_DEPTH = 100;

/** Formats a value as indented JSON, or a string unchanged, of at most `limit` characters: tools print megabytes. */
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
    if (inner.length > MAX_FORMAT_DEPTH * 2) return add('…');
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
