import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { query, setQuery } from '../app/router.js';

export interface Column<Item> {
  readonly name: string;
  /** A fixed width, so new rows do not move the columns; by default the column fills the remaining space. */
  readonly width?: string;
  readonly isNumber?: boolean;
  /** Whether the name precedes the value on a narrow screen, where a row is a card without a head. */
  readonly isLabeled?: boolean;
  readonly class?: string;
  /** Renders a cell. In a table whose rows open, `opener` wraps the row's name in a button. */
  readonly cell: (item: Item, opener: Opener) => ComponentChildren;
}

type Opener = (name: ComponentChildren) => ComponentChildren;

/** A table with one item per row. If it has details, the query parameter `row` names the open row. */
export function RowTable<Item>(props: {
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly getKey: (item: Item) => string;
  readonly details?: ((item: Item) => ComponentChildren) | undefined;
  readonly list?: RefObject<HTMLTableElement>;
  readonly isDense?: boolean;
}) {
  const { columns, items, getKey, details, list, isDense = false } = props;
  return (
    <table ref={list ?? null} class={isDense ? 'rows dense' : 'rows'}>
      <colgroup>
        {columns.map(({ name, width = 'auto' }) => (
          <col key={name} style={{ width }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map(({ name, isNumber = false }) => (
            <th key={name} scope="col" class={isNumber ? 'number' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <Row key={getKey(item)} id={getKey(item)} item={item} columns={columns} details={details} />
        ))}
      </tbody>
    </table>
  );
}

function Row<Item>(props: {
  readonly id: string;
  readonly item: Item;
  readonly columns: readonly Column<Item>[];
  readonly details: ((item: Item) => ComponentChildren) | undefined;
}) {
  const { id, item, columns, details } = props;
  const isOpen = details !== undefined && query.value.get('row') === id;
  const opener: Opener = (name) => (
    <button
      type="button"
      {...ROW}
      class="opener"
      aria-expanded={isOpen}
      onClick={() => setQuery({ row: isOpen ? null : id })}
    >
      {name}
    </button>
  );
  return (
    <>
      <tr class={isOpen ? 'chosen' : ''}>
        {columns.map(
          ({ name, isNumber = false, isLabeled = false, class: classes = isNumber ? 'number' : '', cell }) => (
            <td key={name} class={classes} data-label={isLabeled ? name : undefined}>
              {cell(item, opener)}
            </td>
          ),
        )}
      </tr>
      {isOpen ? (
        <tr class="row-details">
          <td colSpan={columns.length}>{details(item)}</td>
        </tr>
      ) : null}
    </>
  );
}

/** A table of values in a region that scrolls sideways. The first cell of a row is its name. */
export function DataTable(props: {
  readonly label: string;
  readonly class?: string;
  readonly caption?: string;
  readonly head: readonly ComponentChildren[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly foot?: readonly ComponentChildren[];
  /** The first column that contains numbers. */
  readonly numbersFrom?: number;
}) {
  const { label, class: classes = '', caption, head, rows, foot, numbersFrom = Infinity } = props;
  const draw = (cells: readonly ComponentChildren[], key: number) => (
    <tr key={key}>
      {cells.map((cell, index) => {
        const name = index >= numbersFrom ? 'number' : '';
        // An empty cell is no header.
        if (cell === '' || (cells !== head && index > 0)) return <td class={name}>{cell}</td>;
        return (
          <th scope={cells === head ? 'col' : 'row'} class={name}>
            {cell}
          </th>
        );
      })}
    </tr>
  );
  return (
    <div class={`table-scroll ${classes}`} tabIndex={0} role="region" aria-label={label}>
      <table>
        {caption === undefined ? null : <caption class="visually-hidden">{caption}</caption>}
        <thead>{draw(head, 0)}</thead>
        <tbody>{rows.map(draw)}</tbody>
        {foot === undefined ? null : <tfoot>{draw(foot, 0)}</tfoot>}
      </table>
    </div>
  );
}

/** The attributes of a row's focusable link or button: `<a {...ROW} href="…">`. */
export const ROW = { 'data-row': '' } as const;

export const ROW_STEPS: Readonly<Record<string, number>> = {
  j: 1,
  k: -1,
  ArrowDown: 1,
  ArrowUp: -1,
  Home: -Infinity,
  End: Infinity,
};

/** Returns the row that a key moves to, or null. If the focus is outside the rows (`from` is -1), only letters move it. */
export function nextRow(key: string, from: number, count: number): number | null {
  const step = ROW_STEPS[key];
  if (step === undefined || count === 0 || (from === -1 && key.length > 1)) return null;
  return Math.max(0, Math.min(count - 1, from + step));
}

/** Moves the focus between the rows of a list with `j` and `k`, and with the arrow keys once the focus is in the list. */
export function useRowKeys(list: RefObject<HTMLElement>): void {
  useKeys(({ key }) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const from = rows.findIndex((row) => row === document.activeElement);
    const to = nextRow(key, from, rows.length);
    if (to !== null) rows[to]?.focus();
    return to !== null;
  });
}

/** Calls `onKey` for keys without a modifier, pressed outside fields and dialogs; it returns whether it used the key. */
export function useKeys(onKey: (event: KeyboardEvent) => boolean): void {
  // A hook keeps its initial value, and so all that this closure refers to.
  const current = useRef<typeof onKey | null>(null);
  current.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null) return;
      if (current.current?.(event) === true) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** Whether the user seems to be reading the rows, which must then not move. */
export function isReading(list: HTMLElement | null): boolean {
  return scrollY > 40 || (list !== null && (list.contains(document.activeElement) || list.matches(':hover')));
}
