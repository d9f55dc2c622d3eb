/** The reason why a comment was written. */
export type Trigger =
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'item'; readonly itemId: string }
  | { readonly kind: 'other'; readonly text: string };

/**
 * Parses the trigger of a delivery.
 *
 * @example
 * readTrigger('workrun:2026-11-15-dev-0001') // { kind: 'run', runId: '2026-11-15-dev-0001' }
 */
export function readTrigger(trigger: string): Trigger {
  const [, name, rest = ''] = /^(workrun|resolve):(.+)$/su.exec(trigger) ?? [];
  if (name === 'workrun') return { kind: 'run', runId: rest };
  if (name === 'resolve') return { kind: 'item', itemId: rest };
  return { kind: 'other', text: trigger };
}
