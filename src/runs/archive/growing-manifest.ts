import { createHash } from 'node:crypto';
import { parseJson } from '../../base/files/index.js';

/** The archived parts of a run that has not ended (a growing run), and which bytes of each file they contain. */
export interface GrowingManifest {
  /** When the manifest was written, in milliseconds since 1970. */
  readonly copiedAt: number;
  /** The number of the next part. Numbers are never reused, so a part never changes once a manifest lists it. */
  readonly next: number;
  readonly parts: readonly Part[];
  readonly files: readonly CopiedFile[];
}

/** An object with bytes from multiple files. */
export interface Part {
  readonly number: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The copied part of a run file. */
export interface CopiedFile {
  readonly path: string;
  /** Distinguishes the file from a later file with the same name. */
  readonly id: string;
  /** The spans with its bytes, in order. */
  readonly spans: readonly Span[];
}

/** Bytes of a file within a part. */
export interface Span {
  readonly part: number;
  readonly at: number;
  readonly bytes: number;
}

/** The current state of a file on the run's host. */
export interface FileState {
  readonly path: string;
  readonly id: string;
  readonly size: number;
}

/** The next part to upload. `finish` returns the manifest that lists it. */
export interface PartPlan {
  readonly number: number;
  /** Its byte ranges, in order. */
  readonly content: readonly { readonly path: string; readonly from: number; readonly bytes: number }[];
  /** The number of the part it replaces: the last part, if that is still small. */
  readonly replaces: number | undefined;
  finish(facts: Pick<Part, 'bytes' | 'sha256'>, now: number): GrowingManifest;
}

export const EMPTY_MANIFEST: GrowingManifest = { copiedAt: 0, next: 1, parts: [], files: [] };

/**
 * The maximum part size, as a multiple of `partBytes`: a run that grows fast gets larger parts instead of more parts.
 */
const MAX_PART_FACTOR = 8;
/** The maximum number of parts in a manifest. Beyond it, nothing is copied until the run has ended. */
const MAX_PARTS = 10_000;
const MAX_FILES = 10_000;
const MAX_PART_BYTES = 1024 * 1024 * 1024;

/**
 * Plans the next part of a run: the new bytes of its files, together with the last part's bytes if that is still small.
 * Otherwise a run of many small steps would become thousands of objects. Returns undefined if nothing is new.
 */
export function planPart(
  manifest: GrowingManifest,
  files: readonly FileState[],
  partBytes: number,
): PartPlan | undefined {
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
    .map((file) => ({
      ...file,
      spans: file.spans.filter(({ part }) => !isOpen || part !== last.number),
    }));
  return {
    number: manifest.next,
    content,
    replaces: isOpen ? last.number : undefined,
    finish: (facts, now) => ({
      copiedAt: now,
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
export function formatManifest({ copiedAt, next, parts, files }: GrowingManifest): Buffer<ArrayBuffer> {
  const json = JSON.stringify({
    copied_at: copiedAt,
    next,
    parts: parts.map(({ number, bytes, sha256 }) => [number, bytes, sha256]),
    files: files.map(({ path, id, spans }) => ({
      path,
      id,
      spans: spans.map(({ part, at, bytes }) => [part, at, bytes]),
    })),
  });
  return Buffer.from(`${hashText(json)}\n${json}`);
}

/** Parses a manifest written by {@link formatManifest}; undefined if it is invalid. */
export function parseManifest(object: Uint8Array): GrowingManifest | undefined {
  const text = Buffer.from(object).toString('utf8');
  const json = text.slice(65);
  if (text.slice(0, 65) !== `${hashText(json)}\n`) return undefined;
  const value = parseJson(json);
  if (!isRecord(value)) return undefined;
  const { copied_at: copiedAt, next } = value;
  const parts = readList(value['parts'], MAX_PARTS + 1, readPart);
  const files = readList(value['files'], MAX_FILES, readFile);
  if (!isCount(copiedAt) || !isCount(next) || parts === undefined || files === undefined) return undefined;
  const sizes = new Map(parts.map(({ number, bytes }) => [number, bytes]));
  const isWithin = files.every(({ spans }) =>
    spans.every(({ part, at, bytes }) => at + bytes <= (sizes.get(part) ?? -1)),
  );
  return isWithin ? { copiedAt, next, parts, files } : undefined;
}

function readPart(value: unknown): Part | undefined {
  if (!isList(value)) return undefined;
  const [number, bytes, sha256] = value;
  const isPart = isCount(number) && isCount(bytes) && bytes <= MAX_PART_BYTES && typeof sha256 === 'string';
  return isPart ? { number, bytes, sha256 } : undefined;
}

function readFile(value: unknown): CopiedFile | undefined {
  if (!isRecord(value)) return undefined;
  const { path, id } = value;
  const spans = readList(value['spans'], MAX_PARTS + 1, readSpan);
  if (typeof path !== 'string' || typeof id !== 'string' || spans === undefined) return undefined;
  // The path becomes a file name when the run is exported.
  return /^\.audit\/[\w.-]{1,200}$/u.test(path) ? { path, id, spans } : undefined;
}

function readSpan(value: unknown): Span | undefined {
  if (!isList(value)) return undefined;
  const [part, at, bytes] = value;
  return isCount(part) && isCount(at) && isCount(bytes) ? { part, at, bytes } : undefined;
}

function readList<T>(value: unknown, maxItems: number, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!isList(value) || value.length > maxItems) return undefined;
  const items = value.map(read).filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
