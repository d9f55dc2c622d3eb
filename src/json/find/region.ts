/** A part of the text that may hold the answer, by offsets. */
export interface Region {
  readonly start: number;
  readonly end: number;
}
