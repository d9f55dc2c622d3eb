import { describe, expect, test } from 'vitest';
import { describeIssueRef, toFileName, isIssueRef, getRepository } from './issue-ref.js';

describe('isIssueRef', () => {
  test.each([
    'acme/shop#12',
    'group/sub/deeper/project#7',
    'acme/.github#1',
    'a/b.js#999999999999999',
    'local#42',
    'local#fix-login_2',
  ])('%s is an issue reference', (text) => {
    expect(isIssueRef(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['a REST id', '1234567'],
    ['a node id', 'I_kwDOABCD12'],
    ['an old node id', 'MDU6SXNzdWUx'],
    ['a global id', 'gid://gitlab/Issue/12'],
    ['an address', 'https://forge.example/acme/shop/issues/12'],
    ['no repository', 'shop#12'],
    ['no number', 'acme/shop#'],
    ['number 0', 'acme/shop#0'],
    ['a leading zero', 'acme/shop#012'],
    ['a merge request', 'acme/shop!12'],
    ['a way out of its folder', '../shop#12'],
    ['a way out in the middle', 'acme/../shop#12'],
    ['an empty part', 'acme//shop#12'],
    ['a blank', 'acme/shop #12'],
    ['a line break behind it', 'acme/shop#12\n'],
    ['a backslash', 'acme\\shop#12'],
    ['a colon', 'acme/shop:x#12'],
    ['a look-alike', 'acme/shор#12'],
    ['a local id that climbs', 'local#../x'],
    ['something endless', `${'a/'.repeat(200)}b#1`],
  ])('%s is not an issue reference', (_, text) => {
    expect(isIssueRef(text)).toBe(false);
  });
});

describe('describeIssueRef', () => {
  test('converts an address to a reference', () => {
    expect(describeIssueRef('https://forge.example/acme/shop/issues/12')).toBe(
      'write acme/shop#12 instead of the address',
    );
    expect(describeIssueRef('https://forge.example/a/b/c/-/issues/3?x=1')).toBe('write a/b/c#3 instead of the address');
  });

  test.each(['gid://gitlab/Issue/12', 'I_kwDOABCD12', 'MDU6SXNzdWUx', '1234567'])(
    'reports that %s is internal',
    (text) => {
      expect(describeIssueRef(text)).toContain('internal ids');
    },
  );

  test('otherwise shows the accepted forms', () => {
    expect(describeIssueRef('shop 12')).toBe('write owner/repo#12, group/sub/project#12 or local#id');
  });
});

test('a reference becomes a file name', () => {
  expect(toFileName('group/sub/project#7')).toBe('group_sub_project_7');
  expect(toFileName('a:b\\c')).toBe('a_b_c');
});

test('an issue belongs to a repository, unless it is local', () => {
  expect(getRepository('group/sub/project#7')).toBe('group/sub/project');
  expect(getRepository('local#7')).toBeUndefined();
});
