/** The size of one request: the server sends at most a MiB. */
const PART_BYTES = 1024 * 1024;
/** A page loads no larger file; the export of the run has it. */
export const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;

/** Reads a whole file of a run, part by part, as the bytes it has. */
export async function readWholeArtifact(
  runId: string,
  path: string,
  totalBytes: number,
  load: (address: string, range: string) => Promise<Response> = loadRange,
): Promise<Uint8Array<ArrayBuffer>> {
  const address = `/v1/runs/${encodeURIComponent(runId)}/artifact?${new URLSearchParams({ path }).toString()}`;
  const bytes = new Uint8Array(Math.min(totalBytes, MAX_DOWNLOAD_BYTES));
  for (let from = 0; from < bytes.length;) {
    const answer = await load(address, `bytes=${from}-${Math.min(bytes.length, from + PART_BYTES) - 1}`);
    const part = new Uint8Array(await answer.arrayBuffer());
    if (!answer.ok || part.length === 0) throw new Error('The file could not be read to its end. It may have changed.');
    bytes.set(part.subarray(0, bytes.length - from), from);
    from += part.length;
  }
  return bytes;
}

/** The name a file is saved under: the last part of its path, without what a file system or a reader would misread. */
export function chooseFileName(path: string): string {
  const [name = ''] = path.split(/[/\\]/).slice(-1);
  // Characters that hide, reorder or name a device: never in a file name that a person should trust.
  const safe = name.replaceAll(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '_').slice(0, 120);
  return /^[._ ]*$/.test(safe) ? 'file' : safe;
}

/** Saves bytes as a file. Nothing in them is opened: the browser only stores them. */
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
