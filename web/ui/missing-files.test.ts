import { describe, expect, it } from 'vitest';
import { describeMissingFiles } from './missing-files.js';

describe('files that are missing', () => {
  it('are reported with the machine that executed the run', () => {
    expect(describeMissingFiles({ source: null, host: 'build-7' })).toBe(
      'The files of this run are not on this machine. The run was executed on "build-7".',
    );
    expect(describeMissingFiles({ source: null })).toBe('The files of this run are not on this machine.');
  });

  it('are reported as not existing if the folder or the archive was read', () => {
    expect(describeMissingFiles({ source: 'archive', host: 'build-7' })).toBe('The run left no files.');
  });
});
