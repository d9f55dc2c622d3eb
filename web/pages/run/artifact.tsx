import { useSignal } from '@preact/signals';
import type { FilePreview } from '../../../src/server/client/index.js';
import { formatCount, SafeText } from '../../ui/text.js';
import { Notice, Button } from '../../ui/parts.js';
import { client } from '../../data/client.js';
import { asFailure, type Failure } from '../../data/resource.js';
import { useEffect, useRef } from 'preact/hooks';
import { t } from './texts.js';

type Preview =
  | { readonly state: 'closed' | 'loading' }
  | { readonly state: 'loaded'; readonly file: FilePreview; readonly image: LoadedImage | null }
  | { readonly state: 'failed'; readonly failure: Failure };

type LoadedImage = ImageHead & Readonly<{ bytes: Uint8Array<ArrayBuffer> }>;

/** A file that an agent created or changed: its path and, on request, its content as an image or as text. */
export function ArtifactPreview({ runId, path, note }: Readonly<{ runId: string; path: string; note: string }>) {
  const preview = useSignal<Preview>({ state: 'closed' });
  const open = async (): Promise<void> => {
    preview.value = { state: 'loading' };
    try {
      const file = await client.readArtifact({ id: runId, path });
      const image = isBinary(file.text) ? await loadImage(runId, path, file) : null;
      preview.value = { state: 'loaded', file, image };
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
  const loaded = current.state === 'loaded' ? current : null;
  return (
    <>
      <div class="row">
        <SafeText as="code" text={path} limit={400} />
        {note === '' ? null : <SafeText as="span" class="dim" text={note} limit={60} />}
        {loaded === null ? (
          <Button label={t.preview} disabled={current.state === 'loading'} onClick={() => void open()} />
        ) : (
          <Button label={t.close} onClick={() => (preview.value = { state: 'closed' })} />
        )}
        {loaded !== null && loaded.file.totalBytes <= MAX_DOWNLOAD_BYTES ? (
          <Button label={t.download} onClick={() => void download(loaded.file.totalBytes)} />
        ) : null}
      </div>
      {loaded === null ? null : loaded.image !== null ? (
        <ImagePreview {...loaded.image} onFailure={() => (preview.value = { ...loaded, image: null })} />
      ) : isBinary(loaded.file.text) ? (
        <p class="preview dim">{t.binary(formatCount(loaded.file.totalBytes))}</p>
      ) : (
        <pre class="preview" tabIndex={0} aria-label={t.currentContentOfTheFile}>
          <SafeText text={loaded.file.text} />
          <span class="dim"> {describeSize(loaded.file.totalBytes)}</span>
        </pre>
      )}
      {current.state === 'failed' ? (
        <Notice tone="bad" title={t.cannotReadTheFile} action={{ label: t.tryAgain, run: open }}>
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

const MAX_PREVIEW_BYTES = 1024 * 1024;

export function describeSize(totalBytes: number): string {
  return t.size(formatCount(totalBytes), totalBytes > MAX_PREVIEW_BYTES);
}

const CHECKED_LENGTH = 4096;

/** Whether a file is binary: it contains a null character, or many bytes that are not UTF-8. */
export function isBinary(text: string): boolean {
  const start = text.slice(0, CHECKED_LENGTH);
  const invalidCount = start.split('\uFFFD').length - 1;
  return start.includes('\0') || invalidCount > start.length / 20;
}

/** An agent's image, painted onto a canvas: only its pixels are decoded, so the file cannot run code. */
function ImagePreview({ bytes, width, height, onFailure }: LoadedImage & Readonly<{ onFailure: () => void }>) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isCurrent = true;
    const paint = async (): Promise<void> => {
      try {
        const bitmap = await createImageBitmap(new Blob([bytes]));
        if (isCurrent) canvas.current?.getContext('2d')?.drawImage(bitmap, 0, 0);
        bitmap.close();
      } catch {
        if (isCurrent) onFailure();
      }
    };
    void paint();
    return () => {
      isCurrent = false;
    };
  }, [bytes]);
  return (
    <canvas
      ref={canvas}
      class="image-preview"
      width={width}
      height={height}
      role="img"
      aria-label={t.picture(width, height)}
    />
  );
}

type ImageHead = Readonly<{ type: 'image/png' | 'image/gif' | 'image/jpeg'; width: number; height: number }>;

/** The maximum number of pixels. Each is decoded to four bytes, so a tiny file could need gigabytes. */
const MAX_PIXELS = 40_000_000;
/** Larger files are not shown; they can be downloaded. */
const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/** Reads an image's type and size from its bytes; null if too large or not supported. SVG can contain scripts. */
export function readImageHead(bytes: Uint8Array): ImageHead | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = readPng(view) ?? readGif(view) ?? readJpeg(view);
  if (head === null || head.width === 0 || head.height === 0) return null;
  return head.width * head.height > MAX_PIXELS ? null : head;
}

function startsWith(view: DataView, start: readonly number[]): boolean {
  return start.every((byte, index) => index < view.byteLength && view.getUint8(index) === byte);
}

function readPng(view: DataView): ImageHead | null {
  if (view.byteLength < 24 || !startsWith(view, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return null;
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageHead | null {
  if (view.byteLength < 10 || !startsWith(view, [0x47, 0x49, 0x46, 0x38])) return null;
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** Reads the size of a JPEG from its first frame header, which comes after segments of any length. */
function readJpeg(view: DataView): ImageHead | null {
  if (!startsWith(view, [0xff, 0xd8, 0xff])) return null;
  for (let at = 2; at + 9 < view.byteLength && view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return null;
}

/** The request size: the server sends at most one MiB. */
const CHUNK_BYTES = 1024 * 1024;
/** Larger files are not loaded; the run's export contains them. */
const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;

export async function readArtifactBytes(
  runId: string,
  path: string,
  totalBytes: number,
  load = async (address: string, range: string): Promise<Response> => fetch(address, { headers: { range } }),
): Promise<Uint8Array<ArrayBuffer>> {
  const address = `/v1/runs/${encodeURIComponent(runId)}/artifact?${new URLSearchParams({ path }).toString()}`;
  const bytes = new Uint8Array(Math.min(totalBytes, MAX_DOWNLOAD_BYTES));
  for (let from = 0; from < bytes.length;) {
    const response = await load(address, `bytes=${from}-${Math.min(bytes.length, from + CHUNK_BYTES) - 1}`);
    const part = new Uint8Array(await response.arrayBuffer());
    if (!response.ok || part.length === 0) throw new Error(t.cannotReadTheCompleteFile);
    bytes.set(part.subarray(0, bytes.length - from), from);
    from += part.length;
  }
  return bytes;
}

/** Chooses a download's file name: the last path segment, without unsafe or misleading characters. */
export function chooseFileName(path: string): string {
  const [name = ''] = path.split(/[/\\]/).slice(-1);
  // Control, invisible and reordering characters, and characters that file systems do not allow.
  const safeName = name.replaceAll(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '_').slice(0, 120);
  return /^[._ ]*$/.test(safeName) ? 'file' : safeName;
}

/** Saves bytes as a file. The browser stores them without opening them. */
export function saveAs(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
