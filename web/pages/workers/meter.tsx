/** A bar that shows the used share. It is hidden from screen readers, because the numbers are next to it. */
export function Meter({ share, isWarning = false }: { readonly share: number; readonly isWarning?: boolean }) {
  return (
    <span class={isWarning ? 'meter warn' : 'meter'} aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
    </span>
  );
}
