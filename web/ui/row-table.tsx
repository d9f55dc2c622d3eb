import type { ComponentChildren, RefObject } from 'preact';

/** A column of a {@link RowTable}. */
export interface Column {
  readonly name: string;
  /** A fixed width, so new rows do not move the columns; by default the column fills the remaining space. */
  readonly width?: string;
  readonly isNumber?: boolean;
}

/** A table with one item per row; on a narrow screen its cells are stacked. */
export function RowTable({
  columns,
  list,
  children,
}: {
  readonly columns: readonly Column[];
  readonly list: RefObject<HTMLTableElement>;
  readonly children: ComponentChildren;
}) {
  return (
    <table ref={list} class="rows">
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
      <tbody>{children}</tbody>
    </table>
  );
}
