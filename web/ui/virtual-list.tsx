import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** What of a long list is in the page: only rows that are seen, and a few around them. */
export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** How high a row is thought to be before it has been seen, in pixels. */
  readonly estimate: number;
  readonly keyOf: (index: number) => string | number;
  readonly row: (index: number) => ComponentChildren;
  /** The row to bring into view whenever it changes. */
  readonly target?: number | null;
  /** Stay at the end while rows come, unless the person has scrolled away from it. */
  readonly follow?: boolean;
}

/** Rows beside those that are seen, each way. */
const AROUND = 10;
/** Nearer to the end than this, one is at the end. */
const AT_END_PX = 40;

/** A list of any length that scrolls by itself. Rows may be of any height: they are measured when they are first seen. */
export function VirtualList({ label, count, estimate, keyOf, row, target = null, follow = false }: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((turn: number, _: null) => turn + 1, 0);
  const atEnd = useRef(true);

  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: keyOf,
    overscan: AROUND,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => draw(null),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
  virtualizer.setOptions(options);
  // The library's own name for what adapters of a framework call.
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtualizer._didMount(), []);
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => virtualizer._willUpdate());

  useEffect(() => {
    if (target !== null && target < count) virtualizer.scrollToIndex(target, { align: 'center' });
  }, [target]);
  useEffect(() => {
    if (follow && atEnd.current && count > 0) virtualizer.scrollToIndex(count - 1, { align: 'end' });
  }, [count, follow]);

  const noticeEnd = (): void => {
    const box = scroller.current;
    if (box !== null) atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < AT_END_PX;
  };
  return (
    <div ref={scroller} class="virtual" role="region" aria-label={label} tabIndex={0} onScroll={noticeEnd}>
      <div class="virtual-space" role="list" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={String(key)}
            ref={(element) => virtualizer.measureElement(element)}
            data-index={index}
            class="virtual-row"
            role="listitem"
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
