import { describe, expect, it } from 'vitest';
import { describeMissingFiles } from './facts.js';

describe('the explanation of an empty file list', () => {
  it('names the host that executed the run, if known', () => {
    expect(describeMissingFiles({ source: null, host: 'build-7' })).toBe(
      'The files of the run are not on this host. The run was executed on "build-7".',
    );
    expect(describeMissingFiles({ source: null })).toBe('The files of the run are not on this host.');
  });

  it('is that the run left no files if its folder or the archive could be read', () => {
    expect(describeMissingFiles({ source: 'archive', host: 'build-7' })).toBe('The run produced no files.');
  });
});
