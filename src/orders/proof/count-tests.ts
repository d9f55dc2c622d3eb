/** How a test runner reports passed tests on one line. Counts of several lines are added, as for several packages. */
const COUNTS: readonly RegExp[] = [
  // vitest: `Tests  1 failed | 10 passed (11)`; jest: `Tests:       3 passed, 3 total`
  /^\s*Tests:?\s[^]*?\b(\d+) passed\b/,
  // pytest: `=== 5 passed, 1 warning in 0.12s ===`
  /^(?:=+ )?(?:\d+ \w+, )*(\d+) passed\b[^]* in [\d.]+s/,
  // cargo: `test result: ok. 5 passed; 0 failed`
  /^test result: \w+\. (\d+) passed;/,
  // node:test: `# pass 12`, `ℹ pass 12`
  /^(?:#|ℹ) pass (\d+)$/,
  // mocha: `  12 passing (30ms)`
  /^\s*(\d+) passing\b/,
  // JUnit: `<testsuite name="a" tests="12">`
  /^\s*<testsuite\s[^>]*\btests="(\d+)"/,
];

/** Lines that stand for one passed test each: TAP's, and those of `go test -v`. */
const PASSED: readonly RegExp[] = [/^ok \d+(?!.*# (?:skip|todo))/i, /^\s*--- PASS: /];

/** Longer lines are not read to their end: no runner prints its counts there. */
const MAX_LINE_LENGTH = 500;
/** Colours and cursor movements of a terminal. */
const TERMINAL_CODES = new RegExp(String.raw`\u001b\[[0-9;?]*[@-~]`, 'g');

/**
 * Counts the tests that passed according to a test runner's output; undefined if no runner is recognized.
 *
 * @example
 * countTests(' Tests  12 passed (12)\n') // 12
 */
export function countTests(output: string): number | undefined {
  const lines = output.split(/\r?\n/).map((line) => line.slice(0, MAX_LINE_LENGTH).replaceAll(TERMINAL_CODES, ''));
  for (const pattern of COUNTS) {
    const counts = lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
    if (counts.length > 0) return counts.reduce((sum, count) => sum + Number(count), 0);
  }
  const passed = PASSED.map((pattern) => lines.filter((line) => pattern.test(line)).length);
  return passed.find((count) => count > 0);
}
