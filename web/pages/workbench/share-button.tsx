import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { openCase, schemaInput, inputText } from './workbench-state.js';
import { Button } from '../../ui/button.js';

/** Copies a link to the current input, schema and options; the input is in the fragment, which no server receives. */
export function ShareButton() {
  const message = useSignal('');
  useEffect(() => void openShared(), []);
  const share = async (): Promise<void> => {
    const fragment = await packCase({ text: inputText.value, schemaText: schemaInput.value });
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
      <Button
        label="Share link"
        title="The output is in the link’s fragment: no server receives it"
        onClick={() => void share()}
      />
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

type SharedCase = Readonly<{ text: string; schemaText: string }>;
const PREFIX = '#case=';
/** Some applications truncate longer links. */
const MAX_LINK_LENGTH = 32_000;
/** The maximum unpacked size, because a short link can unpack to megabytes. */
const MAX_BYTES = 4_000_000;

/** Packs a case into a URL fragment, which browsers do not send to any server; null if it is too long for a link. */
export async function packCase(shared: SharedCase): Promise<string | null> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  if (bytes.length > MAX_BYTES) return null;
  const packed = await readBytes(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw')));
  const fragment = PREFIX + toBase64Url(packed);
  return fragment.length > MAX_LINK_LENGTH ? null : fragment;
}

/** Reads the case from a fragment; null if missing or damaged. */
export async function unpackCase(fragment: string): Promise<SharedCase | null> {
  if (!fragment.startsWith(PREFIX) || fragment.length > MAX_LINK_LENGTH) return null;
  try {
    const packed = new Blob([fromBase64Url(fragment.slice(PREFIX.length))]);
    const bytes = await readBytes(packed.stream().pipeThrough(new DecompressionStream('deflate-raw')));
    const shared: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof shared !== 'object' || shared === null || !('text' in shared) || !('schemaText' in shared)) return null;
    const { text, schemaText } = shared;
    return typeof text === 'string' && typeof schemaText === 'string' ? { text, schemaText } : null;
  } catch {
    // A truncated or edited link.
    return null;
  }
}

/** Reads a whole stream; throws if it exceeds the maximum case size. */
async function readBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  let length = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      length += part.length;
      if (length > MAX_BYTES) controller.error(new RangeError('The case is too long.'));
      else controller.enqueue(part);
    },
  });
  return new Uint8Array(await new Response(stream.pipeThrough(limit)).arrayBuffer());
}

function toBase64Url(bytes: Uint8Array): string {
  const binary = [...bytes].map((byte) => String.fromCodePoint(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0);
}
