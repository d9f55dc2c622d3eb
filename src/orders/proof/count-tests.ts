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

/** How a test runner names a test that failed. */
const FAILED: readonly RegExp[] = [
  // TAP: `not ok 2 - adds up`
  /^\s*not ok \d+(?: -)? (?!.*# (?:skip|todo))(.+)/i,
  // pytest: `FAILED tests/test_a.py::test_b - assert …`; go: `--- FAIL: TestA (0.00s)`; cargo: `test a::b ... FAILED`
  /^FAILED (\S+)/,
  /^\s*--- FAIL: (\S+)/,
  /^test (\S+) \.\.\. FAILED$/,
  // vitest: ` FAIL  a.test.ts > adds up`; jest: `  ● basket › adds up`; node:test: `✖ adds up (1.2ms)`
  /^\s*FAIL\s+(.+)/,
  /^\s*[●✖×] (.+)/,
  // JUnit, with the failure in the next element
  /^\s*<testcase\s[^>]*\bname="([^"]*)"[^>]*>\s*<(?:failure|error)\b/,
];

/** More than a person reads in a sentence. */
const MAX_FAILED = 5;

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
  const lines = splitLines(output);
  for (const pattern of COUNTS) {
    const counts = lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
    if (counts.length > 0) return counts.reduce((sum, count) => sum + Number(count), 0);
  }
  const passed = PASSED.map((pattern) => lines.filter((line) => pattern.test(line)).length);
  return passed.find((count) => count > 0);
}

/**
 * Lists the first few tests that failed according to a test runner's output.
 *
 * @example
 * listFailedTests('ok 1 - a\nnot ok 2 - b\n') // ['b']
 */
export function listFailedTests(output: string): readonly string[] {
  const names = splitLines(output).flatMap((line) => {
    const match = FAILED.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined);
    return match === undefined ? [] : [match.trim()];
  });
  return [...new Set(names)].slice(0, MAX_FAILED);
}

function splitLines(output: string): readonly string[] {
  return output.split(/\r?\n/).map((line) => line.slice(0, MAX_LINE_LENGTH).replaceAll(TERMINAL_CODES, ''));
}
