/** A file that can be read at any position: an open file, or part of one. */
export interface ReadableFile {
  stat(): Promise<{ readonly size: number }>;
  /** Reads into a buffer; can read fewer bytes than requested, and zero at the end of the file. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** Opens a file; undefined if it does not exist (yet). */
export type OpenFile = () => Promise<ReadableFile | undefined>;

/** The boundary for following links. In `base`, because public types use it and must not depend on Node.js types. */
export interface TrustedRoot {
  /** Links below this folder are not followed; by default the parent of the folder being accessed. */
  readonly trustedRoot?: string | undefined;
}
