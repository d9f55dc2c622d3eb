/** What a worker says it did, in one spelling whatever it wrote. */
export interface WorkResult {
  readonly issue_ref: string;
  readonly run_id: string;
  readonly status: 'ok' | 'fail' | 'blocked';
  readonly changes: { readonly pr?: string; readonly commit?: string };
  /** `n/a` is the only way to say that there are none. */
  readonly tests: TestReport | 'n/a';
  readonly summary: string;
  readonly result_code?: string;
  readonly blocked_by?: readonly string[];
  readonly questions?: readonly string[];
}

export interface TestReport {
  readonly command: string;
  readonly result: 'pass' | 'fail' | 'n/a';
  readonly evidence: string;
}
