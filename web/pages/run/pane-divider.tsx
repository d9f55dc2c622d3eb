import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

/** A divider between two panes. It can be dragged, or moved with the arrow keys. */
export function PaneDivider<Name extends string>({
  widths,
  left,
  right,
}: {
  readonly widths: Signal<Readonly<Record<Name, number>>>;
  readonly left: Name;
  readonly right: Name;
}) {
  const divider = useRef<HTMLDivElement>(null);
  const sum = widths.value[left] + widths.value[right];
  /** The left neighbour's fraction of the combined width. */
  const fraction = widths.value[left] / sum;
  const setFraction = (next: number): void => {
    const nextWidths = divideWidth(sum, next);
    widths.value = { ...widths.value, [left]: nextWidths.left, [right]: nextWidths.right };
  };
  const drag = (event: PointerEvent): void => {
    const before = divider.current?.previousElementSibling?.getBoundingClientRect();
    const after = divider.current?.nextElementSibling?.getBoundingClientRect();
    if (before === undefined || after === undefined || !(divider.current?.hasPointerCapture(event.pointerId) ?? false))
      return;
    setFraction((event.clientX - before.left) / (after.right - before.left));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 0.05 : event.key === 'ArrowLeft' ? -0.05 : 0;
    if (step === 0) return;
    event.preventDefault();
    setFraction(fraction + step);
  };
  return (
    <div
      ref={divider}
      class="run-pane-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of the ${left} pane`}
      aria-valuenow={Math.round(fraction * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onPointerDown={(event) => divider.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** Neither of two neighbours becomes narrower than this fraction of their combined width. */
const MIN_FRACTION = 0.15;

/**
 * Divides the combined width of two neighbours.
 *
 * @example
 * divideWidth(2, 0.25) // { left: 0.5, right: 1.5 }
 */
export function divideWidth(sum: number, fraction: number): { readonly left: number; readonly right: number } {
  const left = sum * Math.min(1 - MIN_FRACTION, Math.max(MIN_FRACTION, fraction));
  return { left, right: sum - left };
}
