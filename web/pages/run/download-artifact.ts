/** The request size: the server sends at most one MiB. */
const CHUNK_BYTES = 1024 * 1024;
/** Larger files are not loaded; the run's export contains them. */
export const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;

/** Reads a run file's bytes in chunks. */
export async function readArtifactBytes(
  runId: string,
  path: string,
  totalBytes: number,
  load: (address: string, range: string) => Promise<Response> = loadRange,
): Promise<Uint8Array<ArrayBuffer>> {
  const address = `/v1/runs/${encodeURIComponent(runId)}/artifact?${new URLSearchParams({ path }).toString()}`;
  const bytes = new Uint8Array(Math.min(totalBytes, MAX_DOWNLOAD_BYTES));
  for (let from = 0; from < bytes.length;) {
    const response = await load(address, `bytes=${from}-${Math.min(bytes.length, from + CHUNK_BYTES) - 1}`);
    const part = new Uint8Array(await response.arrayBuffer());
    if (!response.ok || part.length === 0)
      throw new Error('Cannot read the complete file: it may have changed. Close the preview and open it again.');
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

async function loadRange(address: string, range: string): Promise<Response> {
  return fetch(address, { headers: { range } });
}
