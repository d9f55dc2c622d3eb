import { expect, test } from 'vitest';
import { countTests, listFailedTests } from './run-checks.js';

test.each([
  ['vitest', ' Test Files  2 passed (2)\n\u001b[2m      Tests \u001b[22m 1 failed | 10 passed | 2 skipped (13)\n', 10],
  ['jest', 'Test Suites: 1 passed, 1 total\nTests:       1 skipped, 3 passed, 4 total\n', 3],
  ['pytest', 'collected 6 items\n\n==== 1 failed, 5 passed, 2 warnings in 0.12s ====\n', 5],
  ['pytest -q', '.....\n5 passed in 0.01s\n', 5],
  [
    'cargo, with a library and documentation',
    'test result: ok. 5 passed; 0 failed\n\ntest result: ok. 2 passed; 0 failed\n',
    7,
  ],
  ['node:test', 'ok 1 - a\n# tests 4\n# pass 3\n# fail 1\n', 3],
  ['mocha', '\n  12 passing (30ms)\n  1 pending\n', 12],
  ['JUnit', '<testsuites>\n  <testsuite name="a" tests="3">\n  <testsuite name="b" tests="4">\n', 7],
  ['TAP, without tests that were skipped', '1..3\r\nok 1 - a\r\nok 2 - b # SKIP no network\r\nnot ok 3 - c\r\n', 1],
  ['go test -v', '=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\nok  \tpkg\t0.1s\n', 2],
  ['no known runner', 'all good, 5 passed the bar\n', undefined],
  ['nothing', '', undefined],
])('counts the passed tests of %s', (_, output, count) => {
  expect(countTests(output)).toBe(count);
});

test.each([
  ['TAP', 'ok 1 - a\nnot ok 2 - b # TODO later\nnot ok 3 - adds up\n', ['adds up']],
  ['vitest', ' \u001b[31mFAIL\u001b[39m  a.test.ts > basket > adds up\n', ['a.test.ts > basket > adds up']],
  ['jest', '  ● basket › adds up\n\n  ● basket › adds up\n', ['basket › adds up']],
  ['pytest', 'FAILED tests/test_a.py::test_b - assert 1 == 2\n', ['tests/test_a.py::test_b']],
  ['go', '--- FAIL: TestA (0.00s)\n', ['TestA']],
  ['cargo', 'test basket::adds_up ... FAILED\n', ['basket::adds_up']],
  ['JUnit', '<testcase name="adds up"><failure message="x">\n', ['adds up']],
  ['no known runner', 'the test failed\n', []],
])('names the failed tests of %s', (_, output, names) => {
  expect(listFailedTests(output)).toEqual(names);
});

test('names at most five failed tests', () => {
  expect(listFailedTests('not ok 1 - a\n'.repeat(3) + 'abcdefg'.replaceAll(/./g, 'not ok 1 - $&\n'))).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
  ]);
});
