import { useSignal } from '@preact/signals';
import { formatCount, SafeText } from './text.js';
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
      {typeof value === 'string' ? (
        <span class="json-text">
          {/* Only ambiguous characters are escaped. */}"
          <SafeText
            text={value.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}
            limit={MAX_STRING_LENGTH}
          />
          "
        </span>
      ) : (
        <span class="json-word">{JSON.stringify(value) ?? 'null'}</span>
      )}
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

/** A value that is not an object: a string unchanged, anything else as JSON. */
export function ValueText({ value, limit }: Readonly<{ value: unknown; limit: number }>) {
  return (
    <SafeText as="pre" class="value" text={typeof value === 'string' ? value : JSON.stringify(value)} limit={limit} />
  );
}
