import { describe, expect, it } from 'vitest';
import { ErrorDump } from './error-dump.js';

describe('the dump after an error', () => {
  it('continues with indented lines and closing brackets', () => {
    const dump = new ErrorDump();
    dump.start('stderr');
    const lines = ['    at run (x.js:1:2) {', '  status: 429,', '  error: {', '  }', '}', ']', '})', '\tat x'];
    expect(lines.filter((line) => !dump.continues('stderr', line))).toEqual([]);
  });

  it.each(['Next line', '{"type":"init"}', '', '} else {'])('ends permanently with %j', (line) => {
    const dump = new ErrorDump();
    dump.start('stderr');
    expect(dump.continues('stderr', line)).toBe(false);
    expect(dump.continues('stderr', '    at run')).toBe(false);
  });

  it('belongs to its stream, and starts only with an error', () => {
    const dump = new ErrorDump();
    dump.start('stderr');
    expect(dump.continues('stdout', '    indented words')).toBe(false);
    expect(dump.isOpen('stderr')).toBe(true);
    dump.end('stderr');
    expect(dump.continues('stderr', '    at run')).toBe(false);
  });
});
