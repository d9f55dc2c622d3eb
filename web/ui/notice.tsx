import type { ComponentChildren } from 'preact';

/** How a message is meant. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad';

/** A message in the place of what it is about; a bad one is read out at once. */
export function Notice({
  tone,
  title,
  action,
  children,
}: {
  readonly tone: Tone;
  readonly title: string;
  readonly action?: { readonly label: string; readonly run: () => unknown };
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children === undefined ? null : <div>{children}</div>}
      {action === undefined ? null : (
        <button type="button" onClick={() => void action.run()}>
          {action.label}
        </button>
      )}
    </div>
  );
}
