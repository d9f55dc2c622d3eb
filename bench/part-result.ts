/** A measurement with a limit. */
export interface Target {
  readonly what: string;
  /** The limit as text: `≤ 1.2 × JSON.parse`. */
  readonly limit: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Rows under a heading. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The bars of one chart group, as multiples of a base that is 1. */
export interface BarGroup {
  readonly title: string;
  readonly base: string;
  readonly bars: readonly { readonly name: string; readonly ratio: number; readonly note?: string }[];
  /** The maximum allowed multiple. */
  readonly limit?: number;
}

/** The result of one bench part. */
export interface PartResult {
  readonly title: string;
  readonly targets: readonly Target[];
  readonly tables: readonly Table[];
  readonly groups: readonly BarGroup[];
}

/** Creates a target with a maximum ratio. */
export function atMost(what: string, ratio: number, limit: number, base: string): Target {
  return { what, limit: `≤ ${limit} × ${base}`, measured: formatRatio(ratio), met: ratio <= limit };
}

/** Formats a ratio. */
export function formatRatio(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(2) : ratio < 100 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString('en-US')} ×`;
}

/** Formats a time in milliseconds. */
export function formatMs(time: number): string {
  return `${time < 1 ? time.toFixed(3) : time < 100 ? time.toFixed(1) : Math.round(time).toLocaleString('en-US')} ms`;
}
