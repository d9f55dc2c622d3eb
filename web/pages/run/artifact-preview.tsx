import { useSignal } from '@preact/signals';
import type { FilePreview } from '../../../src/client/index.js';
import { formatCount } from '../../ui/amount.js';
import { Notice } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { client } from '../../server/client.js';
import { ImagePreview } from './image-preview.js';
import { MAX_IMAGE_BYTES, readImageHead } from './read-image.js';
import type { ImageHead } from './read-image.js';
import { chooseFileName, MAX_DOWNLOAD_BYTES, readWholeArtifact, saveAs } from './download-artifact.js';
import { asFailure } from '../../server/use-resource.js';
import type { Failure } from '../../server/use-resource.js';

type Preview =
  | { readonly state: 'closed' | 'coming' }
  | { readonly state: 'there'; readonly file: FilePreview; readonly image: Picture | null }
  | { readonly state: 'failed'; readonly failure: Failure };

interface Picture extends ImageHead {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A file an agent made: its path, and its text when asked for. It is text, whatever it says it is. */
export function ArtifactPreview({
  runId,
  path,
  note,
}: {
  readonly runId: string;
  readonly path: string;
  /** More about the file: how it changed, or which tool changed it. */
  readonly note: string;
}) {
  const preview = useSignal<Preview>({ state: 'closed' });
  const open = async (): Promise<void> => {
    preview.value = { state: 'coming' };
    try {
      const file = await client.readArtifact({ id: runId, path });
      preview.value = {
        state: 'there',
        file,
        image: isBinary(file.text) ? await readPicture(runId, path, file) : null,
      };
    } catch (error) {
      preview.value = { state: 'failed', failure: asFailure(error) };
    }
  };
  const download = async (totalBytes: number): Promise<void> => {
    try {
      saveAs(chooseFileName(path), await readWholeArtifact(runId, path, totalBytes));
    } catch (error) {
      preview.value = { state: 'failed', failure: asFailure(error) };
    }
  };
  const now = preview.value;
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
        {now.state === 'there' ? (
          <button type="button" onClick={() => (preview.value = { state: 'closed' })}>
            Close
          </button>
        ) : (
          <button type="button" disabled={now.state === 'coming'} onClick={() => void open()}>
            Preview
          </button>
        )}
        {now.state === 'there' && now.file.totalBytes <= MAX_DOWNLOAD_BYTES ? (
          <button type="button" onClick={() => void download(now.file.totalBytes)}>
            Download
          </button>
        ) : null}
      </div>
      {now.state === 'there' && now.image !== null ? (
        <ImagePreview
          bytes={now.image.bytes}
          width={now.image.width}
          height={now.image.height}
          onFailure={() => (preview.value = { ...now, image: null })}
        />
      ) : null}
      {now.state === 'there' && now.image === null && isBinary(now.file.text) ? (
        <p class="preview dim">Binary file, {formatCount(now.file.totalBytes)} bytes. Download it to open it.</p>
      ) : null}
      {now.state === 'there' && !isBinary(now.file.text) ? (
        <pre class="preview" tabIndex={0} aria-label="Current content of the file">
          <SafeText text={now.file.text} />
          <span class="dim"> {formatCount(now.file.totalBytes)} bytes in total</span>
        </pre>
      ) : null}
      {now.state === 'failed' ? (
        <Notice tone="bad" title={now.failure.code} action={{ label: 'Try again', run: open }}>
          <SafeText text={now.failure.message} />
        </Notice>
      ) : null}
    </>
  );
}

/** The bytes of a picture; null for other files, and for those that are too large to be shown. */
async function readPicture(runId: string, path: string, file: FilePreview): Promise<Picture | null> {
  if (file.totalBytes > MAX_IMAGE_BYTES) return null;
  const bytes = await readWholeArtifact(runId, path, file.totalBytes);
  const head = readImageHead(bytes);
  return head === null ? null : { ...head, bytes };
}

/** Characters at the beginning of a file that say what it is. */
const SNIFFED = 4096;

/** Whether a file is binary: it has a null character, or many bytes that are not UTF-8. */
export function isBinary(text: string): boolean {
  const start = text.slice(0, SNIFFED);
  const wrong = start.split('\uFFFD').length - 1;
  return start.includes('\0') || wrong > start.length / 20;
}
