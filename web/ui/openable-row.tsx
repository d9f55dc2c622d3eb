import type { ComponentChildren } from 'preact';
import { query, setQuery } from '../app/router.js';
import { ROW } from './use-row-keys.js';

/**
 * A table row that can be opened to show details. The query parameter `row` names the open row, which makes it
 * linkable.
 */
export function OpenableRow({
  id,
  columns,
  cells,
  details,
}: {
  readonly id: string;
  /** The number of columns of the table. */
  readonly columns: number;
  /** Renders the cells; `opener` wraps the row's name in a button. */
  readonly cells: (opener: (name: ComponentChildren) => ComponentChildren) => ComponentChildren;
  readonly details: () => ComponentChildren;
}) {
  const isOpen = query.value.get('row') === id;
  const opener = (name: ComponentChildren): ComponentChildren => (
    <button
      {...ROW}
      type="button"
      class="opener"
      aria-expanded={isOpen}
      onClick={() => setQuery({ row: isOpen ? null : id })}
    >
      {name}
    </button>
  );
  return (
    <>
      <tr class={isOpen ? 'chosen' : ''}>{cells(opener)}</tr>
      {isOpen ? (
        <tr class="row-details">
          <td colSpan={columns}>{details()}</td>
        </tr>
      ) : null}
    </>
  );
}
