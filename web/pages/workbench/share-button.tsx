import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { packCase, unpackCase } from './share-case.js';
import { openCase, schemaText, text } from './workbench-state.js';

/**
 * Copies a link to the current input, schema and options. The input is in the URL fragment, which is not sent to any
 * server.
 */
export function ShareButton() {
  const message = useSignal('');
  useEffect(() => void openShared(), []);
  const share = async (): Promise<void> => {
    const fragment = await packCase({ text: text.value, schemaText: schemaText.value });
    if (fragment === null) {
      message.value = 'Too long for a link. Save it as a test case.';
      return;
    }
    const link = `${location.origin}${location.pathname}${location.search}${fragment}`;
    try {
      await navigator.clipboard.writeText(link);
      message.value = 'Link copied';
    } catch {
      // If the page is not allowed to write to the clipboard, the link is put into the address bar.
      history.replaceState(history.state, '', link);
      message.value = 'Copy the link from the address bar';
    }
  };
  return (
    <span class="row">
      <span class="dim small" role="status">
        {message.value}
      </span>
      <button
        type="button"
        title="The output is in the link’s fragment: no server receives it"
        onClick={() => void share()}
      >
        Share link
      </button>
    </span>
  );
}

/** Opens the case in the address and removes it from the address, so a reload keeps later edits. */
async function openShared(): Promise<void> {
  const shared = await unpackCase(location.hash);
  if (shared === null) return;
  openCase(shared);
  history.replaceState(history.state, '', location.pathname + location.search);
}
