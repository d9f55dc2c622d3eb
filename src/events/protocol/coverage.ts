import type { StreamName } from './raw-ref.js';

/** From a byte to another, the end not included. */
export type ByteRange = readonly [from: number, to: number];

/** How the bytes of one stream were claimed. Nothing was lost if `unclaimed` and `doubled` are empty. */
export interface StreamCoverage {
  readonly bytes: number;
  readonly claimed: number;
  readonly unclaimed: readonly ByteRange[];
  readonly doubled: readonly ByteRange[];
}

/** The account of every byte of every stream. */
export type Coverage = Readonly<Record<StreamName, StreamCoverage>>;
