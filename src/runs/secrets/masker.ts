/** Puts stars in the place of what is secret in a stream, chunk by chunk; not a byte more or less comes out. */
export interface Masker {
  /** What can be given out by now. The last bytes are held back as long as they may become part of a secret. */
  push(bytes: Uint8Array): Uint8Array;
  /** The rest. */
  end(): Uint8Array;
}
