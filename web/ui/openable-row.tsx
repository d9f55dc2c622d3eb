import type { ComponentChildren } from 'preact';
import { query, setQuery } from '../app/router.js';
import { ROW } from './use-row-keys.js';

/** A row that shows more when it is chosen; the open row is in the query as `row`, so it can be linked to. */
export function OpenableRow({
  id,
  columns,
  cells,
  details,
}: {
  readonly id: string;
  /** How many columns the table has. */
  readonly columns: number;
  /** The cells; `opener` goes around what names the row. */
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
