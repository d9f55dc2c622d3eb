type Trigger =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'item'; readonly itemId: string }
  | { readonly kind: 'other'; readonly text: string };

/** Parses a delivery's trigger. */
export function readTrigger(trigger: string): Trigger {
  const [, name, id = ''] = /^(workrun|resolve):(.+)$/su.exec(trigger) ?? [];
  if (name === 'workrun') return { kind: 'run', runId: id };
  if (name === 'resolve') return { kind: 'item', itemId: id };
  return { kind: 'other', text: trigger };
}
