/** Something is on its way: calm words in the room it will take. */
export function Loading({ isList = false }: { readonly isList?: boolean }) {
  return (
    <p class={isList ? 'loading list-waiting' : 'loading'} aria-busy="true">
      Loading …
    </p>
  );
}
