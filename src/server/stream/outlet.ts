/** Where the bytes of one reader go. */
export interface Outlet {
  /** Bytes that were given and have not left yet. */
  readonly unsent: number;
  readonly isClosed: boolean;
  /** Takes whole events only: what is written by others in between must not cut one. */
  write(bytes: Uint8Array): void;
  /** Resolves once everything has left, or never will. */
  drained(): Promise<void>;
  /** Calls back once, when the reader is gone, whoever closed first. */
  onClose(then: () => void): void;
  /** Sends what is left, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}
