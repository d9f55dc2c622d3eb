/** The boundary below which links are not followed. In `base`, because public types use it and must not depend on Node.js types. */
export interface Below {
  /** The folder below which no link is followed; by default the parent of the folder that is used. */
  readonly below?: string | undefined;
}
