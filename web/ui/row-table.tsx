import type { ComponentChildren, RefObject } from 'preact';

/** A column of a {@link RowTable}. */
export interface Column {
  readonly name: string;
  /** A width that does not depend on the content, so that new rows move no column; without one it takes the remaining space. */
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
