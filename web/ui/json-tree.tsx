import { useSignal } from '@preact/signals';
import { formatCount } from './amount.js';
import { SafeText } from './safe-text.js';
import './json-tree.css';

/** The number of members shown initially. */
const MAX_MEMBERS = 100;
/** The maximum depth; deeper values are shown as an ellipsis. */
const MAX_DEPTH = 200;
const MAX_STRING_LENGTH = 400;

/**
 * A value as a collapsible tree. Only open branches are rendered, so even a value of several megabytes costs no more
 * than its visible part. `open` is the number of levels that are open initially.
 */
export function JsonTree({ value, open = 2 }: { readonly value: unknown; readonly open?: number }) {
  return (
    <div class="json-tree">
      <Node name={null} value={value} open={open} depth={0} isLast />
    </div>
  );
}

function Node({
  name,
  value,
  open,
  depth,
  isLast,
}: {
  readonly name: string | null;
  readonly value: unknown;
  readonly open: number;
  readonly depth: number;
  readonly isLast: boolean;
}) {
  if (typeof value === 'object' && value !== null) {
    return <Branch name={name} value={value} open={open} depth={depth} isLast={isLast} />;
  }
  return (
    <div class="json-line">
      <Name name={name} />
      <Leaf value={value} />
      {isLast ? '' : ','}
    </div>
  );
}

function Name({ name }: { readonly name: string | null }) {
  if (name === null) return null;
  return (
    <>
      <span class="json-name">
        <SafeText text={JSON.stringify(name)} limit={MAX_STRING_LENGTH} />
      </span>
      {': '}
    </>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
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

function Branch({
  name,
  value,
  open,
  depth,
  isLast,
}: {
  readonly name: string | null;
  readonly value: object;
  readonly open: number;
  readonly depth: number;
  readonly isLast: boolean;
}) {
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
  const noun = isList ? (count === 1 ? 'item' : 'items') : count === 1 ? 'member' : 'members';
  return (
    <div class="json-branch">
      <div class="json-line">
        <button
          type="button"
          class="json-toggle"
          aria-expanded={isOpen.value}
          aria-label={`${name ?? 'Value'}, ${count} ${noun}`}
          onClick={() => (isOpen.value = !isOpen.value)}
        />
        <Name name={name} />
        {begin}
        {isOpen.value ? null : (
          <>
            <span class="dim">
              {' '}
              {formatCount(count)} {noun}{' '}
            </span>
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
                … {formatCount(count - visibleCount.value)} more
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
