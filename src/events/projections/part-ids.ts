/** Engines number their calls anew in each attempt; a conversation needs ids that stay apart. */
export function toolCallIdOf(id: string, attempt: number): string {
  return attempt === 1 ? id : `${attempt}:${id}`;
}

/** A thought that came whole has no id of its own. */
export function reasoningIdOf(
  { reasoning_id }: { readonly reasoning_id?: string },
  { attempt, seq }: { readonly attempt: number; readonly seq: number },
): string {
  return `reasoning_${attempt}_${reasoning_id ?? seq}`;
}
