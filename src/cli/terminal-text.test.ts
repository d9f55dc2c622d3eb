import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { colorPatch, createColoring, makeVisible, wantsColor } from './terminal-text.js';

describe('makeVisible', () => {
  it('escapes terminal sequences', () => {
    expect(makeVisible('\u001B[2J\u001B]0;title\u0007')).toBe('␛[2J␛]0;title␇');
  });

  it('shows characters that change the text direction', () => {
    expect(makeVisible('user\u202Egpj.exe')).toBe('user<U+202E>gpj.exe');
  });

  it('keeps line breaks, tabs and non-Latin scripts', () => {
    expect(makeVisible('eins\r\n\tzwei 三 😀')).toBe('eins\n\tzwei 三 😀');
  });

  it('never returns a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // oxlint-disable-next-line no-control-regex -- the test searches for them
        expect(makeVisible(text)).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
      }),
    );
  });
});

describe('wantsColor', () => {
  it.each([
    ['a terminal', [], {}, true, true],
    ['a file or a pipe', [], {}, false, false],
    ['a terminal with NO_COLOR', [], { NO_COLOR: '1' }, true, false],
    ['a terminal with an empty NO_COLOR', [], { NO_COLOR: '' }, true, true],
    ['a terminal without capabilities', [], { TERM: 'dumb' }, true, false],
    ['a pipe with --color, whatever NO_COLOR is', ['run', '--color'], { NO_COLOR: '1' }, false, true],
    ['a terminal with --no-color', ['--color', 'run', '--no-color'], {}, true, false],
    ['a pipe, with --color for another command', ['run', '--', 'ls', '--color'], {}, false, false],
  ])('decides for %s', (_, argv, env, isTerminal, expected) => {
    expect(wantsColor(argv, env, isTerminal)).toBe(expected);
  });
});

describe('createColoring', () => {
  it.each([
    ['✓ shell\n', '\u001B[32m✓ shell\u001B[39m\n'],
    ['■ failed: RUN_TIMED_OUT\n', '\u001B[31m■ failed: RUN_TIMED_OUT\u001B[39m\n'],
    ['codex  not found\n       → install it\n', 'codex  not found\n\u001B[36m       → install it\u001B[39m\n'],
    ['ID   WAITING FOR  WHY\n', '\u001B[1mID   WAITING FOR  WHY\u001B[22m\n'],
    ['Options:\n', '\u001B[1mOptions:\u001B[22m\n'],
    ['{ "a": "✓ x" }\n- item\n', '{ "a": "✓ x" }\n- item\n'],
  ])('colors lines by their beginning: %j', (text, expected) => {
    expect(createColoring()(text)).toBe(expected);
  });

  it('recognizes the beginning of a line, not of a part', () => {
    const color = createColoring();
    expect([color('a '), color('✓ b'), color(''), color('✗ c\n'), color('✗ d')].join('')).toBe(
      'a ✓ b✗ c\n\u001B[31m✗ d\u001B[39m',
    );
  });
});

it('colorPatch colors added and removed lines', () => {
  expect(colorPatch('@@ -1 +1 @@\n-a\n+b\n c\n')).toBe(
    '\u001B[36m@@ -1 +1 @@\u001B[39m\n\u001B[31m-a\u001B[39m\n\u001B[32m+b\u001B[39m\n c\n',
  );
});
