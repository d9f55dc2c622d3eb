import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

/** The divider between two lenses. It can be dragged, or moved with the arrow keys. */
export function LensDivider<Name extends string>({
  shares,
  left,
  right,
}: {
  readonly shares: Signal<Readonly<Record<Name, number>>>;
  readonly left: Name;
  readonly right: Name;
}) {
  const divider = useRef<HTMLDivElement>(null);
  const sum = shares.value[left] + shares.value[right];
  /** The left part of their combined width, from 0 to 1. */
  const part = shares.value[left] / sum;
  const setPart = (next: number): void => {
    const moved = moveShare(sum, next);
    shares.value = { ...shares.value, [left]: moved.left, [right]: moved.right };
  };
  const drag = (event: PointerEvent): void => {
    const before = divider.current?.previousElementSibling?.getBoundingClientRect();
    const after = divider.current?.nextElementSibling?.getBoundingClientRect();
    if (before === undefined || after === undefined || !(divider.current?.hasPointerCapture(event.pointerId) ?? false))
      return;
    setPart((event.clientX - before.left) / (after.right - before.left));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 0.05 : event.key === 'ArrowLeft' ? -0.05 : 0;
    if (step === 0) return;
    event.preventDefault();
    setPart(part + step);
  };
  return (
    <div
      ref={divider}
      class="lens-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${left} and ${right}`}
      aria-valuenow={Math.round(part * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onPointerDown={(event) => divider.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** Neither of two neighbours becomes narrower than this part of their combined width. */
const MIN_PART = 0.15;

/**
 * Divides the combined width of two neighbours.
 *
 * @example
 * moveShare(2, 0.25) // { left: 0.5, right: 1.5 }
 */
export function moveShare(sum: number, part: number): { readonly left: number; readonly right: number } {
  const left = sum * Math.min(1 - MIN_PART, Math.max(MIN_PART, part));
  return { left, right: sum - left };
}
