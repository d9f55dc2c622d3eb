import { describe, expect, it } from 'vitest';
import { StoreError } from '../store/index.js';
import { MisuseError, describeFailure } from './failure.js';

describe('a command that fails', () => {
  it('prints one line with the reason for a usage error', () => {
    expect(describeFailure(new MisuseError('name a file'))).toEqual({ text: 'sluice: name a file\n', exitCode: 2 });
  });

  it('prints the code and the message of a Sluice error', () => {
    const error = new StoreError('STORE_BUSY', 'try again', { cause: new Error('locked') });
    expect(describeFailure(error)).toEqual({ text: 'sluice: STORE_BUSY: try again\n', exitCode: 2 });
  });

  it('links to the code once the site has an address', () => {
    const error = new StoreError('STORE_BUSY', 'Try again.');
    const text = 'sluice: STORE_BUSY: Try again. See https://sluice.test/docs/errors/#STORE_BUSY\n';
    expect(describeFailure(error, 'https://sluice.test/docs/')).toEqual({ text, exitCode: 2 });
    for (const homepage of ['https://example.org/sluice/', 'https://forge.test/sluice#readme'])
      expect(describeFailure(error, homepage).text).toBe('sluice: STORE_BUSY: Try again.\n');
  });

  it('prints what failed and what to check for a system error, without a stack', () => {
    const error = Object.assign(new Error("EACCES: permission denied, mkdir '/x'"), {
      code: 'EACCES',
      syscall: 'mkdir',
    });
    expect(describeFailure(error)).toEqual({
      text: "sluice: SYSTEM_REFUSED: EACCES: permission denied, mkdir '/x'. Check the path, its permissions and the free disk space.\n",
      exitCode: 2,
    });
  });

  it.each([new TypeError('x is not a function'), 'a word', undefined, { toString: () => 'odd' }])(
    'exits with 70 after an unexpected error (%#)',
    (thrown) => {
      const { text, exitCode } = describeFailure(thrown);
      expect(exitCode).toBe(70);
      expect(text).toMatch(
        /^sluice: INTERNAL_ERROR: .+\. This is an internal error\. Report it with the command that you ran\.\n/,
      );
    },
  );

  it('shows a stack only for an unexpected error', () => {
    expect(describeFailure(new TypeError('x')).text).toContain('failure.test.ts');
  });

  it('escapes control characters in the content of a file', () => {
    expect(describeFailure(new MisuseError('not JSON: \u001b[2J\u009b31m')).text).toBe(
      'sluice: not JSON: ␛[2J<U+009B>31m\n',
    );
    expect(describeFailure(new Error('\u001b]0;title')).text).not.toContain('\u001b');
  });
});
