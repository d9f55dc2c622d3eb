import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { packCase, unpackCase } from './share-case.js';
import { openCase, schemaText, text } from './workbench-state.js';

/** Copies a link to this very text, schema and options. The text is in the part of an address that is sent nowhere. */
export function ShareButton() {
  const said = useSignal('');
  useEffect(() => void openShared(), []);
  const share = async (): Promise<void> => {
    const fragment = await packCase({ text: text.value, schemaText: schemaText.value });
    if (fragment === null) {
      said.value = 'Too long for a link. Save it as a test case.';
      return;
    }
    const link = `${location.origin}${location.pathname}${location.search}${fragment}`;
    try {
      await navigator.clipboard.writeText(link);
      said.value = 'Link copied';
    } catch {
      // Not every page may write to the clipboard; the address bar has it then.
      history.replaceState(history.state, '', link);
      said.value = 'The link is in the address bar';
    }
  };
  return (
    <span class="row">
      <span class="dim small" role="status">
        {said.value}
      </span>
      <button
        type="button"
        title="The text is in the fragment of the link: no server receives it"
        onClick={() => void share()}
      >
        Share link
      </button>
    </span>
  );
}

/** Opens the case that the address names, and takes it out of the address: a reload shows what is edited then. */
async function openShared(): Promise<void> {
  const shared = await unpackCase(location.hash);
  if (shared === null) return;
  openCase(shared);
  history.replaceState(history.state, '', location.pathname + location.search);
}
