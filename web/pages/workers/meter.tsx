/** A bar that shows the used fraction. It is hidden from screen readers, because the numbers are next to it. */
export function Meter({ fraction, isWarning = false }: { readonly fraction: number; readonly isWarning?: boolean }) {
  return (
    <span class={isWarning ? 'meter warn' : 'meter'} aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, fraction)) * 100}%` }} />
    </span>
  );
}
