/** The boundary for following links. In `base`, because public types use it and must not depend on Node.js types. */
export interface TrustedRoot {
  /** Links below this folder are not followed; by default the parent of the folder being accessed. */
  readonly trustedRoot?: string | undefined;
}
