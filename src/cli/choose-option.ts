import type { FcmpData } from '../events/index.js';

type PermissionOption = FcmpData<'permission.required'>['options'][number];

/**
 * Returns the option that allows or denies a tool call, preferably only once: "yes" to one call must not allow all
 * later calls. Undefined if the agent offers no such option.
 */
export function chooseOption(
  options: readonly PermissionOption[],
  decision: 'allow' | 'deny',
): PermissionOption | undefined {
  const kinds =
    decision === 'allow' ? (['allow_once', 'allow_always'] as const) : (['reject_once', 'reject_always'] as const);
  return kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];
}
