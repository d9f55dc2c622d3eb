import { parseJson } from '../../base/files/index.js';
import { count, object, text, type FromSchema } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import type { AuditFile } from '../run-folder/index.js';
import { hash } from './upload-file.js';

/** The maximum number of parts in a manifest. Beyond it, nothing is copied until the run has ended. */
const MAX_PARTS = 10_000;
const MAX_FILES = 10_000;
const MAX_PART_BYTES = 1024 * 1024 * 1024;

const spanSchema = object({ part: count, at: count, bytes: count });

/** The copied part of a run file: its id distinguishes it from a later file with the same name, its spans are in order. */
const copiedFileSchema = object({
  // The path becomes a file name when the run is exported.
  path: { type: 'string', pattern: String.raw`^\.audit/[\w.-]{1,200}$` },
  id: text,
  spans: { type: 'array', items: spanSchema, maxItems: MAX_PARTS + 1 },
});

const partSchema = object({ number: count, bytes: { ...count, maximum: MAX_PART_BYTES }, sha256: text });

/** The archived parts of a run that has not ended (a growing run), and which bytes of each file they contain. */
const manifestSchema = object({
  /** When the manifest was written, in milliseconds since 1970. */
  copied_at: count,
  /** The number of the next part. Numbers are never reused, so a part never changes once a manifest lists it. */
  next: count,
  parts: { type: 'array', items: partSchema, maxItems: MAX_PARTS + 1 },
  files: { type: 'array', items: copiedFileSchema, maxItems: MAX_FILES },
});

export type GrowingManifest = FromSchema<typeof manifestSchema>;
export type Part = FromSchema<typeof partSchema>;
export type CopiedFile = FromSchema<typeof copiedFileSchema>;
type Span = FromSchema<typeof spanSchema>;

const manifestValidator = fromRecordSchema<GrowingManifest>(manifestSchema);

/** The current state of a file on the run's host. */
export type FileState = Pick<AuditFile, 'path' | 'id' | 'size'>;

/** The next part to upload. */
export type PartPlan = NonNullable<ReturnType<typeof planPart>>;

export const EMPTY_MANIFEST: GrowingManifest = { copied_at: 0, next: 1, parts: [], files: [] };

/** The maximum part size, as a multiple of `partBytes`: a fast run gets larger parts, not more. */
const MAX_PART_FACTOR = 8;
/**
 * Plans the next part of a run: the new bytes of its files, together with the last part's bytes if that is still small.
 * Otherwise a run of many small steps would become thousands of objects. Returns undefined if nothing is new.
 */
export function planPart(manifest: GrowingManifest, files: readonly FileState[], partBytes: number) {
  const last = manifest.parts.at(-1);
  // While the last part is small, it is open: the new part replaces it and includes its bytes.
  const isOpen = last !== undefined && last.bytes < partBytes;
  const closed = isOpen ? manifest.parts.slice(0, -1) : manifest.parts;
  if (closed.length >= MAX_PARTS || files.length > MAX_FILES) return undefined;
  const previousFiles = new Map(manifest.files.map((file) => [file.path, file]));
  let remainingBytes = partBytes * MAX_PART_FACTOR - (isOpen ? last.bytes : 0);
  let at = 0;
  let hasChanges = false;
  const content: { path: string; from: number; bytes: number }[] = [];
  const copiedFiles = new Map<string, CopiedFile>();
  for (const { path, id, size } of files) {
    const previous = previousFiles.get(path);
    // A replaced or truncated file is copied from its start.
    const isSameFile = previous?.id === id && countBytes(previous.spans) <= size;
    const copiedSpans = isSameFile ? previous.spans : [];
    const spans = isOpen ? copiedSpans.filter(({ part }) => part !== last.number) : copiedSpans;
    const from = countBytes(spans);
    const added = Math.min(size - countBytes(copiedSpans), remainingBytes);
    const bytes = countBytes(copiedSpans) - from + added;
    if (!isSameFile || added > 0) hasChanges = true;
    if (bytes > 0) content.push({ path, from, bytes });
    copiedFiles.set(path, { path, id, spans: bytes > 0 ? [...spans, { part: manifest.next, at, bytes }] : spans });
    at += bytes;
    remainingBytes -= added;
  }
  if (!hasChanges) return undefined;
  const deletedFiles = manifest.files
    .filter(({ path }) => !copiedFiles.has(path))
    .map((file) => ({ ...file, spans: file.spans.filter(({ part }) => !isOpen || part !== last.number) }));
  return {
    number: manifest.next,
    /** Its byte ranges, in order. */
    content,
    /** The number of the part it replaces: the last part, if that is still small. */
    replaces: isOpen ? last.number : undefined,
    /** Returns the manifest that lists it. */
    finish: (facts: Pick<Part, 'bytes' | 'sha256'>, now: number): GrowingManifest => ({
      copied_at: now,
      next: manifest.next + 1,
      parts: [...closed, { number: manifest.next, ...facts }],
      files: [...deletedFiles, ...copiedFiles.values()],
    }),
  };
}

/** Returns the numbers of all parts that might be in the archive, including any left behind by a killed process. */
export function listPartNumbers({ next, parts }: GrowingManifest): readonly number[] {
  const last = parts.at(-1)?.number ?? 0;
  const listedNumbers = parts.map(({ number }) => number);
  const replaced = last > 1 && !listedNumbers.includes(last - 1) ? [last - 1] : [];
  return [...listedNumbers, ...replaced, next];
}

export function countBytes(spans: readonly Span[]): number {
  return spans.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Formats a manifest for the archive: the SHA-256 of its JSON on the first line, then the JSON. */
export function formatManifest(manifest: GrowingManifest): Buffer<ArrayBuffer> {
  const json = JSON.stringify(manifest);
  return Buffer.from(`${hash(json)}\n${json}`);
}

export function parseManifest(bytes: Uint8Array): GrowingManifest | undefined {
  const lines = Buffer.from(bytes).toString('utf8');
  const json = lines.slice(65);
  if (lines.slice(0, 65) !== `${hash(json)}\n`) return undefined;
  const checked = manifestValidator['~standard'].validate(parseJson(json));
  if (checked instanceof Promise || checked.issues !== undefined) return undefined;
  const { parts, files } = checked.value;
  const sizes = new Map(parts.map((part) => [part.number, part.bytes]));
  const isWithin = files.every(({ spans }) =>
    spans.every((span) => span.at + span.bytes <= (sizes.get(span.part) ?? -1)),
  );
  return isWithin ? checked.value : undefined;
}
