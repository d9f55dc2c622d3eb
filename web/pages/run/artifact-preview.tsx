import { useSignal } from '@preact/signals';
import type { FilePreview } from '../../../src/client/index.js';
import { formatCount } from '../../ui/amount.js';
import { Notice } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { client } from '../../server/client.js';
import { ImagePreview } from './image-preview.js';
import { MAX_IMAGE_BYTES, readImageHead } from './read-image.js';
import type { ImageHead } from './read-image.js';
import { chooseFileName, MAX_DOWNLOAD_BYTES, readArtifactBytes, saveAs } from './download-artifact.js';
import { asFailure } from '../../server/use-resource.js';
import type { Failure } from '../../server/use-resource.js';

type Preview =
  | { readonly state: 'closed' | 'loading' }
  | { readonly state: 'loaded'; readonly file: FilePreview; readonly image: LoadedImage | null }
  | { readonly state: 'failed'; readonly failure: Failure };

interface LoadedImage extends ImageHead {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A file that an agent created or changed: its path and, on request, its content as an image or as text. */
export function ArtifactPreview({
  runId,
  path,
  note,
}: {
  readonly runId: string;
  readonly path: string;
  /** How the file was changed, or which tool changed it. */
  readonly note: string;
}) {
  const preview = useSignal<Preview>({ state: 'closed' });
  const open = async (): Promise<void> => {
    preview.value = { state: 'loading' };
    try {
      const file = await client.readArtifact({ id: runId, path });
      preview.value = {
        state: 'loaded',
        file,
        image: isBinary(file.text) ? await loadImage(runId, path, file) : null,
      };
    } catch (error) {
      preview.value = { state: 'failed', failure: asFailure(error) };
    }
  };
  const download = async (totalBytes: number): Promise<void> => {
    try {
      saveAs(chooseFileName(path), await readArtifactBytes(runId, path, totalBytes));
    } catch (error) {
      preview.value = { state: 'failed', failure: asFailure(error) };
    }
  };
  const current = preview.value;
  return (
    <>
      <div class="row">
        <code>
          <SafeText text={path} limit={400} />
        </code>
        {note === '' ? null : (
          <span class="dim">
            <SafeText text={note} limit={60} />
          </span>
        )}
        {current.state === 'loaded' ? (
          <button type="button" onClick={() => (preview.value = { state: 'closed' })}>
            Close
          </button>
        ) : (
          <button type="button" disabled={current.state === 'loading'} onClick={() => void open()}>
            Preview
          </button>
        )}
        {current.state === 'loaded' && current.file.totalBytes <= MAX_DOWNLOAD_BYTES ? (
          <button type="button" onClick={() => void download(current.file.totalBytes)}>
            Download
          </button>
        ) : null}
      </div>
      {current.state === 'loaded' && current.image !== null ? (
        <ImagePreview
          bytes={current.image.bytes}
          width={current.image.width}
          height={current.image.height}
          onFailure={() => (preview.value = { ...current, image: null })}
        />
      ) : null}
      {current.state === 'loaded' && current.image === null && isBinary(current.file.text) ? (
        <p class="preview dim">Binary file, {formatCount(current.file.totalBytes)} bytes. Download it to view it.</p>
      ) : null}
      {current.state === 'loaded' && !isBinary(current.file.text) ? (
        <pre class="preview" tabIndex={0} aria-label="Current content of the file">
          <SafeText text={current.file.text} />
          <span class="dim"> {describeSize(current.file.totalBytes)}</span>
        </pre>
      ) : null}
      {current.state === 'failed' ? (
        <Notice tone="bad" title="Cannot read the file" action={{ label: 'Try again', run: open }}>
          <SafeText text={current.failure.message} /> <code>{current.failure.code}</code>
        </Notice>
      ) : null}
    </>
  );
}

/** Reads an image's bytes; null for other files, and for images too large to show. */
async function loadImage(runId: string, path: string, file: FilePreview): Promise<LoadedImage | null> {
  if (file.totalBytes > MAX_IMAGE_BYTES) return null;
  const bytes = await readArtifactBytes(runId, path, file.totalBytes);
  const head = readImageHead(bytes);
  return head === null ? null : { ...head, bytes };
}

/** The maximum number of bytes the server sends for a preview. */
const MAX_PREVIEW_BYTES = 1024 * 1024;

/** Describes the size of a file, and whether the preview is incomplete. */
export function describeSize(totalBytes: number): string {
  const size = `${formatCount(totalBytes)} bytes in total`;
  return totalBytes > MAX_PREVIEW_BYTES ? `${size}; the preview ends after the first MiB` : size;
}

/** The number of characters checked at the start of a file. */
const CHECKED_LENGTH = 4096;

/** Whether a file is binary: it contains a null character, or many bytes that are not UTF-8. */
export function isBinary(text: string): boolean {
  const start = text.slice(0, CHECKED_LENGTH);
  const invalidCount = start.split('\uFFFD').length - 1;
  return start.includes('\0') || invalidCount > start.length / 20;
}
