/** Where trust in folders ends. Here rather than in `files`, because public types use it and must not need those of Node.js. */
export interface Below {
  /** The folder below which no link is followed; without it that is the folder above the one that is used. */
  readonly below?: string | undefined;
}
