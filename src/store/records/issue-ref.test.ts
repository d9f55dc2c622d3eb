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
  ])('accepts %s', (text) => {
    expect(isIssueRef(text)).toBe(true);
  });

  test.each([
    ['an empty string', ''],
    ['a REST id', '1234567'],
    ['a node id', 'I_kwDOABCD12'],
    ['an old node id', 'MDU6SXNzdWUx'],
    ['a global id', 'gid://gitlab/Issue/12'],
    ['a URL', 'https://forge.example/acme/shop/issues/12'],
    ['a repository without an owner', 'shop#12'],
    ['a missing number', 'acme/shop#'],
    ['number 0', 'acme/shop#0'],
    ['a leading zero', 'acme/shop#012'],
    ['a merge request', 'acme/shop!12'],
    ['a path that leaves its folder', '../shop#12'],
    ['a path with .. in the middle', 'acme/../shop#12'],
    ['an empty path segment', 'acme//shop#12'],
    ['a space', 'acme/shop #12'],
    ['a trailing line break', 'acme/shop#12\n'],
    ['a backslash', 'acme\\shop#12'],
    ['a colon', 'acme/shop:x#12'],
    ['Cyrillic letters that look like Latin letters', 'acme/shор#12'],
    ['a local id with a path', 'local#../x'],
    ['a reference that is too long', `${'a/'.repeat(200)}b#1`],
  ])('rejects %s', (_, text) => {
    expect(isIssueRef(text)).toBe(false);
  });
});

describe('describeIssueRef', () => {
  test('suggests a reference for a URL', () => {
    expect(describeIssueRef('https://forge.example/acme/shop/issues/12')).toBe('write acme/shop#12 instead of the URL');
    expect(describeIssueRef('https://forge.example/a/b/c/-/issues/3?x=1')).toBe('write a/b/c#3 instead of the URL');
  });

  test.each(['gid://gitlab/Issue/12', 'I_kwDOABCD12', 'MDU6SXNzdWUx', '1234567'])(
    'explains that %s is an internal id',
    (text) => {
      expect(describeIssueRef(text)).toContain('internal ids');
    },
  );

  test('lists the accepted formats for any other string', () => {
    expect(describeIssueRef('shop 12')).toBe('write owner/repo#12, group/sub/project#12 or local#id');
  });
});

describe('toFileName', () => {
  test('replaces path separators and the separators in a reference', () => {
    expect(toFileName('group/sub/project#7')).toBe('group_sub_project_7');
    expect(toFileName('a:b\\c')).toBe('a_b_c');
  });
});

describe('getRepository', () => {
  test("returns an issue's repository, or undefined for a local issue", () => {
    expect(getRepository('group/sub/project#7')).toBe('group/sub/project');
    expect(getRepository('local#7')).toBeUndefined();
  });
});
