import { describe, expect, it } from 'vitest';
import { configFileSchema } from './config.js';
import { describeUnknownKey } from './load-config.js';

describe('describeUnknownKey', () => {
  it.each([
    [['retention', 'zzz'], 'use one of: runs, records, delivered, results'],
    [['programs', 'qwenn'], 'did you mean "qwen"?'],
    [['server', 'limits', 'body_byte'], 'did you mean "body_bytes"?'],
    [['sinks', '0', 'secretEnv'], 'did you mean "secret_env"?'],
    [['wrappers', 'mine', 'injekt'], 'did you mean "inject"?'],
    // A key of an object that the object has.
    [['port'], 'did you mean "server.port"?'],
  ])('describes %j', (path, advice) => {
    expect(describeUnknownKey(configFileSchema, path)).toContain(`unknown key (${advice}`);
  });

  it.each([
    [[]],
    [['data']],
    [['wrappers', 'any']],
    [['concurrency', 'any']],
    [['nowhere', 'at all']],
    [['data', '0']],
  ])('says nothing about %j, which is known, or whose object may have any key', (path) => {
    expect(describeUnknownKey(configFileSchema, path)).toBeUndefined();
  });
});
