import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { createListViewport } from './list-viewport.js';
import { ROW_STEPS } from './row-table.js';
import { Button } from './parts.js';
import { t } from '../app/texts.js';

/** A scrolling list of any length. Rows can have any height; they are measured when they first become visible. */
export function VirtualList(props: {
  readonly label: string;
  readonly count: number;
  readonly estimate: number;
  readonly row: (index: number) => ComponentChildren;
  readonly target?: number | null;
  /** Whether to stay at the end while rows are added, unless the user has scrolled away from it. */
  readonly follow?: boolean;
  /** Where keyboard navigation starts. It stays in the DOM, because removing it would lose the focus. */
  readonly active?: number | null;
  /** Called with the row that a key moves to; its element with the class `choose` then gets the focus. */
  readonly onMove?: (index: number) => void;
}) {
  const { label, count, estimate, row, target = null, follow = false, active = null, onMove } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((turn: number, _: null) => turn + 1, 0);
  const [viewport] = useState(() => createListViewport(estimate, () => draw(null)));
  const movedTo = useRef<number | null>(null);
  viewport.update({ count, follow });

  useLayoutEffect(() => (scroller.current === null ? undefined : viewport.attach(scroller.current)), []);
  useLayoutEffect(() => viewport.settle());
  const hasTarget = target !== null && target < count;
  useEffect(() => {
    if (hasTarget) viewport.show(target);
  }, [target, hasTarget]);
  useEffect(() => {
    if (active === null || movedTo.current !== active) return;
    movedTo.current = null;
    const focusTarget = scroller.current?.querySelector<HTMLElement>(`[data-index="${active}"] .choose`);
    focusTarget?.focus({ preventScroll: true });
    viewport.show(active);
  }, [active]);

  const onKeyDown = (event: KeyboardEvent): void => {
    viewport.release();
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    const step = hasModifier ? 0 : (ROW_STEPS[event.key] ?? 0);
    if (onMove === undefined || step === 0 || count === 0 || !isAtRow(event.target)) return;
    event.preventDefault();
    const from = active ?? viewport.first() - Math.sign(step);
    const to = Math.max(0, Math.min(count - 1, from + step));
    // At an end of the list the active row does not change, and a pending focus must not be applied later.
    movedTo.current = to === active ? null : to;
    if (to === active) viewport.show(to);
    onMove(to);
  };

  const rows = [...viewport.rows()];
  if (active !== null && active < count && !rows.includes(active)) rows.push(active);
  return (
    <div class="virtual-frame">
      <div
        ref={scroller}
        class="virtual"
        role="region"
        aria-label={label}
        tabIndex={0}
        onScroll={viewport.onScroll}
        onKeyDown={onKeyDown}
        onWheel={viewport.release}
        onPointerDown={viewport.release}
      >
        <div class="virtual-space" role="list" style={{ height: `${viewport.pageHeight()}px` }}>
          {rows.map((index) => (
            <div
              key={index}
              ref={viewport.addRow}
              data-index={index}
              class="virtual-row"
              role="listitem"
              aria-setsize={count}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${viewport.position(index)}px)` }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
      {follow && !viewport.isAtEnd() ? <Button label={t.latest} class="to-end" onClick={viewport.goToEnd} /> : null}
    </div>
  );
}

/** Whether a key moves between rows; keys pressed in a field or a button within a row are left to that control. */
function isAtRow(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.classList.contains('virtual') || target.classList.contains('choose'));
}
