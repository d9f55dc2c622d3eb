import type { ResultCode } from './result-code.js';

/** What becomes of an order. */
export interface Decision {
  readonly action: 'advance' | 'archive' | 'needs-human' | 'blocked';
  /** A sentence for people: why. */
  readonly reason: string;
  readonly result_code: ResultCode;
  /** A sentence for people: what to do now. */
  readonly next: string;
}
