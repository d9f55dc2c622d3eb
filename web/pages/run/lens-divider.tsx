import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

/** The edge between two lenses: drag it, or move it with the arrow keys. */
export function LensDivider<Name extends string>({
  shares,
  left,
  right,
}: {
  readonly shares: Signal<Readonly<Record<Name, number>>>;
  readonly left: Name;
  readonly right: Name;
}) {
  const edge = useRef<HTMLDivElement>(null);
  const sum = shares.value[left] + shares.value[right];
  /** How much of the share of the two goes to the left, from 0 to 1. */
  const part = shares.value[left] / sum;
  const setPart = (next: number): void => {
    const moved = moveShare(sum, next);
    shares.value = { ...shares.value, [left]: moved.left, [right]: moved.right };
  };
  const drag = (event: PointerEvent): void => {
    const before = edge.current?.previousElementSibling?.getBoundingClientRect();
    const after = edge.current?.nextElementSibling?.getBoundingClientRect();
    if (before === undefined || after === undefined || !(edge.current?.hasPointerCapture(event.pointerId) ?? false))
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
      ref={edge}
      class="lens-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${left} and ${right}`}
      aria-valuenow={Math.round(part * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onPointerDown={(event) => edge.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** Neither of two neighbours becomes narrower than this part of both. */
const LEAST = 0.15;

/**
 * Divides what two neighbours have between them.
 *
 * @example
 * moveShare(2, 0.25) // { left: 0.5, right: 1.5 }
 */
export function moveShare(sum: number, part: number): { readonly left: number; readonly right: number } {
  const left = sum * Math.min(1 - LEAST, Math.max(LEAST, part));
  return { left, right: sum - left };
}
